"""One hand of a person against bots, from a seed: it can be played again, to the card and to the dice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from openfelt.base.errors import FeltError
from openfelt.base.random import Dice
from openfelt.bots.bot import Bot, Clock
from openfelt.bots.view import view_of
from openfelt.histories.record import HandRecord
from openfelt.play.asking import thought_of
from openfelt.play.fair import deck_of, dice_start, shuffled
from openfelt.rules.game import CHANCE, TERMINAL, Game
from openfelt.rules.hand import Hand, Step, Thought


class TableHand:
    """The rules, the shuffled deck, the bots in their seats; the person's actions come from outside."""

    def __init__(self, game: Game, bots: Mapping[int, Bot], seat: int, seed: str, nonce: str) -> None:
        self.hand = Hand(game)
        self.bots, self.seat = bots, seat  # by seat of the rules; the seat of the person
        self._deck = iter(shuffled(deck_of(game), seed, nonce))
        self._start = dice_start(seed, nonce)
        self.faults: list[str] = []  # what bots did wrong

    @property
    def over(self) -> bool:
        return self.hand.mover == TERMINAL

    @property
    def actions(self) -> tuple[str, ...]:
        """The words of all players so far."""
        return tuple(step.action for step in self.hand.steps if step.mover != CHANCE)

    def go_on(self) -> None:
        """Deal, and let the bots act, until it is the person's turn or the hand is over."""
        while self.hand.mover not in (TERMINAL, self.seat):
            self._deal() if self.hand.mover == CHANCE else self._bot_acts()

    def act(self, word: str) -> None:
        """What the person does; then it goes on."""
        actions = self.hand.actions
        if word not in actions:
            raise FeltError(f"'{word}' is not possible here; possible are {', '.join(actions)}.")
        self.hand.act(actions.index(word))
        self.go_on()

    def repeat(self, words: Iterable[str]) -> None:
        """Bring a new hand to where another was after these words of all players."""
        for word in words:
            self.deal()
            self.repeat_one(word)
        self.deal()

    def deal(self) -> None:
        """Deal as far as it is chance's turn."""
        while self.hand.mover == CHANCE:
            self._deal()

    def repeat_one(self, word: str) -> Step:
        """Take the action that somebody is known to have taken, with what a bot thinks there."""
        if self.over or word not in self.hand.actions:
            raise FeltError(f"The hand cannot have gone on with '{word}'.")
        mover = self.hand.mover
        thought = None if mover == self.seat else self._think(mover)
        return self.hand.act(self.hand.actions.index(word), thought)

    def record(self, number: int, names: tuple[str, ...]) -> HandRecord:
        """The finished hand, all cards open."""
        dealt = tuple(step.action for step in self.hand.steps if step.mover == CHANCE)
        return HandRecord(self.hand.game.name, number, names, dealt, self.actions, self.hand.payoffs)

    def end(self) -> None:
        """Let the bots see how it ended."""
        for seat, bot in self.bots.items():
            try:
                bot.end_hand(view_of(self.hand, seat), self.hand.payoffs[seat])
            except Exception as error:
                self._fault(seat, f"failed as the hand ended ({type(error).__name__}: {error})")

    def _deal(self) -> None:
        self.hand.act(self.hand.actions.index(next(self._deck)))

    def _bot_acts(self) -> None:
        """A bot that fails checks or folds, as in the arena."""
        seat, actions = self.hand.mover, self.hand.actions
        thought, dice, number = self._think(seat), Dice(self._start, len(self.actions)), 0
        try:
            word = self.bots[seat].act(view_of(self.hand), dice, Clock())
            if word in actions:
                number = actions.index(word)
            else:
                self._fault(seat, f"named '{word}'")
        except Exception as error:
            self._fault(seat, f"failed to act ({type(error).__name__}: {error})")
        self.hand.act(number, thought)

    def _think(self, seat: int) -> Thought | None:
        try:
            return thought_of(self.bots[seat], view_of(self.hand))
        except Exception as error:
            self._fault(seat, f"failed to say what it thinks ({type(error).__name__}: {error})")
            return None

    def _fault(self, seat: int, what: str) -> None:
        self.faults.append(f"The bot in seat {seat} {what}.")
