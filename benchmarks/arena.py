"""Matches of limit hold'em: policies in kernels, and bots asked in Python beside rlcard's and pokerkit's."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from timing import Result, in_turn, peer, per_call

from openfelt.arena.match import match
from openfelt.arena.match_blocks import DUPLICATE, FRESH
from openfelt.bots.bot import Bot, Clock
from openfelt.bots.policy_bot import HoldemBot
from openfelt.bots.registry import load_bot
from openfelt.bots.view import View
from openfelt.core.random import Dice
from openfelt.games.holdem import Holdem

HANDS, ASKED, THEIRS = 400_000, 2_000, 300  # a call: of policies, of bots in Python, of a peer
WANTED = 300_000  # hands a second of policies on one core


def run() -> Iterator[Result]:
    """One result after another."""
    yield _policies(DUPLICATE)
    yield _policies(FRESH)
    yield _bots()


class Even(Bot):
    """Draws evenly from its actions, as the peers' random players do."""

    asked = 0

    def act(self, view: View, dice: Dice, clock: Clock) -> str:
        Even.asked += 1
        return view.actions[int(dice.uniform() * len(view.actions))]


def _policies(dealing: str) -> Result:
    game = Holdem()
    pair = [load_bot(name, game) for name in ("default", "greedy@default")]
    assert all(isinstance(bot, HoldemBot) for bot in pair)

    def play() -> object:
        return match(*pair, hands=HANDS, dealing=dealing)

    play()
    speed = HANDS / per_call(play)
    if dealing == FRESH:
        note = "A deal for each hand, and its luck measured, to be regressed out."
        return Result("policies in kernels, fresh deals", "hands/s", speed, {}, {}, note)
    note = f"`default` against its greedy self, each deal in both seatings; the goal is {WANTED:,} a second."
    return Result("policies in kernels", "hands/s", speed, {"goal": WANTED}, {"goal": 1.0}, note)


def _bots() -> Result:
    """Each program deals, asks two random players in Python, and settles; ours also keeps the statistics."""
    game = Holdem()
    pair = Even(game), Even(game)

    def play() -> object:
        return match(*pair, hands=ASKED, dealing=FRESH)

    play()
    Even.asked = 0
    play()
    decisions = {"OpenFelt": Even.asked / ASKED}
    peers: dict[str, Callable[[], int]] = {}
    if (rlcard := peer("rlcard")) is not None:
        peers["rlcard"] = _rlcard(rlcard)
    if (pokerkit := peer("pokerkit")) is not None:
        peers["pokerkit"] = _pokerkit(pokerkit)
    for name, theirs in peers.items():
        decisions[name] = theirs() / THEIRS
    ours, *others = in_turn(play, *peers.values(), rounds=9)
    speeds = {name: THEIRS / seconds for name, seconds in zip(peers, others, strict=True)}
    told = ", ".join(f"{count:.1f} in {name}" for name, count in decisions.items())
    note = f"Decisions a hand: {told} (rlcard may fold where nothing is to be called)."
    goals = {"rlcard": 2.0, "pokerkit": 10.0}
    return Result("two random players in Python", "hands/s", ASKED / ours, speeds, goals, note)


def _rlcard(rlcard: Any) -> Callable[[], int]:
    agents = peer("rlcard.agents")
    assert agents is not None
    table = rlcard.make("limit-holdem", config={"seed": 1})
    table.set_agents([agents.RandomAgent(num_actions=table.num_actions) for _ in range(2)])

    def play() -> int:
        """Some hands; how many decisions they had."""
        before = table.timestep
        for _ in range(THEIRS):
            table.run(is_training=False)
        return int(table.timestep - before)

    return play


def _pokerkit(pokerkit: Any) -> Callable[[], int]:
    """Everything but the players' decisions is left to its automations."""
    automations, draw = tuple(pokerkit.Automation), random.Random(1)

    def play() -> int:
        """Some hands; how many decisions they had."""
        decisions = 0
        for _ in range(THEIRS):
            state = pokerkit.FixedLimitTexasHoldem.create_state(
                automations, True, 0, (1, 2), 2, 4, (200, 200), 2
            )
            while state.actor_index is not None:
                actions = [state.check_or_call]
                if state.checking_or_calling_amount:
                    actions.append(state.fold)
                if state.can_complete_bet_or_raise_to():
                    actions.append(state.complete_bet_or_raise_to)
                draw.choice(actions)()
                decisions += 1
        return decisions

    return play
