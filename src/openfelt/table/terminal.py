"""Play against bots in the terminal; after each hand it shows the probabilities of their decisions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.stats

from openfelt.bots.bot import Bot
from openfelt.bots.policy_bot import policy_bot
from openfelt.bots.view import view_of
from openfelt.core.random import Dice
from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.hand import Hand, Step
from openfelt.policy.policy import Policy
from openfelt.table.lobby.characters import title_of
from openfelt.table.presentation.registry import PRESENTATIONS
from openfelt.table.presentation.text import YOU, amount, card_signs
from openfelt.table.session.hand_log import action_label, distinct_names, hand_log, hand_name
from openfelt.table.session.table_hand import bot_acts
from openfelt.table.session.visibility import table_state

QUIT = "q"


class Terminal:
    """A person in one seat, bots in the others; seats rotate after every hand."""

    def __init__(
        self,
        game: Game,
        bots: Sequence[Bot],
        *,
        names: Sequence[str] = (),
        seed: int | None = None,
        ask: Callable[[str], str] = input,
        write: Callable[[str], None] = print,
    ) -> None:
        self._game, self._bots = game, bots  # one bot for each other seat, clockwise from the person
        self._names = names or [f"bot {number}" for number in range(1, len(bots) + 1)]
        self._generator = np.random.default_rng(seed)
        self._ask, self._write = ask, write
        self.winnings: list[float] = []

    def play(self, hands: int | None = None) -> None:
        """Play until the person quits, or for a number of hands."""
        self._write(f"{self._game.summary()}\nType an action, its first letters or its number; {QUIT} quits.")
        try:
            while hands is None or len(self.winnings) < hands:
                seat = len(self.winnings) % self._game.players
                you = "" if self._game.key in PRESENTATIONS else f": you are player {seat}"
                self._write(f"\n--- hand {len(self.winnings) + 1}{you} ---")
                self.winnings.append(self._play_hand(seat))
                self._write(self.score())
        except (EOFError, KeyboardInterrupt):
            self._write(f"\nGood game. {self.score()}")

    def _play_hand(self, seat: int) -> float:
        hand = Hand(self._game)
        others = [(seat + place) % self._game.players for place in range(1, self._game.players)]
        bots = dict(zip(others, self._bots, strict=True))
        if self._game.key in PRESENTATIONS:
            return self._play_poker(hand, seat, bots)
        while hand.mover != TERMINAL:
            if hand.mover == CHANCE:
                dealt = [hand.act_for_chance(self._generator).seen[seat]]
                while hand.mover == CHANCE:
                    dealt.append(hand.act_for_chance(self._generator).seen[seat])
                if any(dealt):
                    self._write(f"  dealt: {' '.join(filter(None, dealt))}")
                continue
            if hand.mover == seat:
                step = hand.act(self._choose(hand.actions))
            else:
                mover, dice = hand.mover, Dice(int(self._generator.integers(1 << 63)))
                step, fault = bot_acts(bots[mover], hand, dice)
                if fault:
                    self._write(f"  player {mover} {fault}; it checks or folds")
            if line := _event_line(step, seat):
                self._write(f"  {line}")
        for other, bot in bots.items():
            bot.end_hand(view_of(hand, other), hand.payoffs[other])
        won = hand.payoffs[seat]
        self._write(f"  all events: {' '.join(step.action for step in hand.steps)}")
        for line in decision_lines(hand.steps):
            self._write(f"  {line}")
        verb = "win" if won > 0 else "lose"
        self._write(f"  you {verb} {amount(abs(won), self._game.unit)}" if won else "  you break even")
        return won

    def _play_poker(self, hand: Hand, seat: int, bots: Mapping[int, Bot]) -> float:
        """A hand of a game of the table, in the words of the page."""
        titles = {other: title_of(name) for other, name in zip(bots, self._names, strict=True)}
        names = distinct_names(
            [YOU if each == seat else titles[each] for each in range(hand.game.players)], seat
        )
        lines = hand_log(hand, seat, names, len(self.winnings) + 1)
        shown = 0
        while True:
            for line in lines[shown:]:
                self._write(f"  {line}")
            shown = len(lines)
            if hand.mover == TERMINAL:
                break
            self._advance(hand, seat, bots, names)
            lines = hand_log(hand, seat, names, len(self.winnings) + 1)
        for other, bot in bots.items():
            bot.end_hand(view_of(hand, other), hand.payoffs[other])
        for line in decision_lines(hand.steps, names):
            self._write(f"  {line}")
        return hand.payoffs[seat]

    def _advance(self, hand: Hand, seat: int, bots: Mapping[int, Bot], names: Sequence[str]) -> None:
        """Deal, let one bot act, or ask the person."""
        while hand.mover == CHANCE:
            hand.act_for_chance(self._generator)
            if hand.mover != CHANCE:
                return
        if hand.mover != seat:
            mover, dice = hand.mover, Dice(int(self._generator.integers(1 << 63)))
            _, fault = bot_acts(bots[mover], hand, dice)
            if fault:
                self._write(f"  {names[mover]} {fault}; it checks or folds")
            return
        table = table_state(hand, seat, names, None, all_cards=False)
        self._write(f"  {table_line(table, hand_name(hand, seat))}")
        labels = [action_label(hand.game, hand.state, action) for action in hand.actions]
        hand.act(self._choose(hand.actions, labels))

    def _choose(self, actions: tuple[str, ...], labels: Sequence[str] = ()) -> int:
        return choose_action(actions, labels, self._ask, self._write)

    def score(self) -> str:
        """The winnings so far, with a 95% interval for the mean."""
        count, total = len(self.winnings), sum(self.winnings)
        if not count:
            return "No finished hand yet."
        played, mean = amount(count, "hands"), total / count
        text = f"You are {total:+g} {self._game.unit} after {played} ({mean:+.2f} a hand"
        spread = float(np.std(self.winnings, ddof=1)) / math.sqrt(count) if count > 1 else 0.0
        if spread:
            low, high = scipy.stats.t.interval(0.95, count - 1, loc=mean, scale=spread)
            text += f"; 95% interval {low:+.2f} to {high:+.2f}"
        return text + ")."


def table_line(table: Mapping[str, Any], made: str | None) -> str:
    """Pot, board and the name of one's hand, from what the page is sent."""
    board = f" Board: {card_signs(table['board'])}." if table["board"] else ""
    return f"Pot {table['pot']:g}.{board}{f' You have {made}.' if made else ''}"


def choose_action(
    actions: tuple[str, ...],
    labels: Sequence[str],
    ask: Callable[[str], str],
    write: Callable[[str], None],
) -> int:
    """Ask until the answer is an action; raises EOFError if the person quits."""
    numbered = not any(action.isdecimal() for action in actions)
    words = labels or actions
    menu = "  ".join(f"{number}) {word}" if numbered else word for number, word in enumerate(words, 1))
    while True:
        answer = ask(f"  your move: {menu} > ").strip()
        if answer.lower() in (QUIT, "quit", "exit") and answer.lower() not in map(str.lower, actions):
            raise EOFError
        choice = parse_action(answer, actions)
        if choice is None and labels:
            choice = parse_action(answer.capitalize(), tuple(labels))
        if choice is not None:
            return choice
        write(f"  '{answer}' is not one of: {', '.join(words)}; {QUIT} quits.")


def _event_line(step: Step, seat: int) -> str:
    """A step for the person in `seat`; empty if it was their own action or is hidden from them."""
    seen = step.seen[seat]
    if not seen or (step.mover == seat and seen == step.action):
        return ""
    return f"player {step.mover}: {seen}" if seen == step.action else f"you see: {seen}"


def parse_action(answer: str, actions: tuple[str, ...]) -> int | None:
    """The number of an action from its word, its number in the menu, or an unambiguous prefix."""
    if answer in actions:
        return actions.index(answer)
    if answer.isdecimal():
        numbered = not any(action.isdecimal() for action in actions) and 1 <= int(answer) <= len(actions)
        return int(answer) - 1 if numbered else None
    begins = answer.lower()
    meant = [number for number, word in enumerate(actions) if begins and word.lower().startswith(begins)]
    return meant[0] if len(meant) == 1 else None


def decision_lines(steps: list[Step], names: Sequence[str] = ()) -> list[str]:
    """For each decision of a bot: its infoset, and what it was based on."""
    lines = []
    for step in steps:
        if step.thought is None:
            continue
        name = names[step.mover] if names else f"player {step.mover}"
        shares, what = step.thought.probabilities, ""
        if step.thought.visits:
            shares = tuple(count / sum(step.thought.visits) for count in step.thought.visits)
            what = " of its simulations"
        pairs = zip(step.actions, shares, strict=True)
        chances = ", ".join(f"{word} {100 * share:.0f}%" for word, share in pairs)
        lines.append(f"{name} at '{step.thought.infoset}': {chances}{what}; it chose {step.action}")
    return lines


def watch(game: Game, policy: Policy, generator: np.random.Generator) -> list[str]:
    """The log of a hand of the policy against itself."""
    hand, bot = Hand(game), policy_bot(policy, game)
    while hand.mover != TERMINAL:
        if hand.mover == CHANCE:
            hand.act_for_chance(generator)
        else:
            bot_acts(bot, hand, Dice(int(generator.integers(1 << 63))))
    dealt = " ".join(step.action for step in hand.steps if step.mover == CHANCE)
    result = ", ".join(f"player {player} {value:+g}" for player, value in enumerate(hand.payoffs))
    return [f"dealt: {dealt}", *decision_lines(hand.steps), f"result: {result} {game.unit}"]
