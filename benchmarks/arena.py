"""Matches of limit hold'em: policies in kernels, and bots in Python compared with rlcard and pokerkit."""

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

HANDS, PYTHON_HANDS, PEER_HANDS = 400_000, 2_000, 300  # per call: policies, bots in Python, a peer
GOAL = 300_000  # hands per second of policies on one core


def run() -> Iterator[Result]:
    """All results."""
    yield _policies(DUPLICATE)
    yield _policies(FRESH)
    yield _bots()


class Even(Bot):
    """Plays uniformly at random, as the peers' random players do."""

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
        note = "A new deal for each hand, with the control variates of its luck."
        return Result("policies in kernels, fresh deals", "hands/s", speed, {}, {}, note)
    note = f"`default` against its greedy self, each deal in both seatings; the goal is {GOAL:,} hands/s."
    return Result("policies in kernels", "hands/s", speed, {"goal": GOAL}, {"goal": 1.0}, note)


def _bots() -> Result:
    """Each program deals, calls two random players in Python, and pays; ours also collects the statistics."""
    game = Holdem()
    pair = Even(game), Even(game)

    def play() -> object:
        return match(*pair, hands=PYTHON_HANDS, dealing=FRESH)

    play()
    Even.asked = 0
    play()
    decisions = {"OpenFelt": Even.asked / PYTHON_HANDS}
    peers: dict[str, Callable[[], int]] = {}
    if (rlcard := peer("rlcard")) is not None:
        peers["rlcard"] = _rlcard(rlcard)
    if (pokerkit := peer("pokerkit")) is not None:
        peers["pokerkit"] = _pokerkit(pokerkit)
    for name, theirs in peers.items():
        decisions[name] = theirs() / PEER_HANDS
    ours, *others = in_turn(play, *peers.values(), rounds=9)
    speeds = {name: PEER_HANDS / seconds for name, seconds in zip(peers, others, strict=True)}
    counts = ", ".join(f"{count:.1f} in {name}" for name, count in decisions.items())
    note = f"Decisions a hand: {counts} (rlcard may fold without a bet to call)."
    goals = {"rlcard": 2.0, "pokerkit": 10.0}
    return Result("two random players in Python", "hands/s", PYTHON_HANDS / ours, speeds, goals, note)


def _rlcard(rlcard: Any) -> Callable[[], int]:
    agents = peer("rlcard.agents")
    assert agents is not None
    table = rlcard.make("limit-holdem", config={"seed": 1})
    table.set_agents([agents.RandomAgent(num_actions=table.num_actions) for _ in range(2)])

    def play() -> int:
        """Play some hands; returns the number of decisions."""
        before = table.timestep
        for _ in range(PEER_HANDS):
            table.run(is_training=False)
        return int(table.timestep - before)

    return play


def _pokerkit(pokerkit: Any) -> Callable[[], int]:
    """Everything but the players' decisions is automated."""
    automations, draw = tuple(pokerkit.Automation), random.Random(1)

    def play() -> int:
        """Play some hands; returns the number of decisions."""
        decisions = 0
        for _ in range(PEER_HANDS):
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
