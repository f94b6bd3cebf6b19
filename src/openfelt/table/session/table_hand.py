"""One hand of a person against bots, from a seed: it can be played again, to the card and to the dice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from openfelt.bots.bot import Bot, Clock
from openfelt.bots.view import view_of
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.hand import Hand, Step, Thought
from openfelt.hands.record import HandRecord
from openfelt.table.review.bot_policies import thought_of
from openfelt.table.session.fair_dealing import deck_of, dice_start, shuffled


class TableHand:
    """The rules, the shuffled deck, the bots in their seats; the person's actions come from outside."""

    def __init__(self, game: Game, bots: Mapping[int, Bot], seat: int, seed: str, nonce: str) -> None:
        self.hand = Hand(game)
        self.bots, self.seat = bots, seat  # by seat of the rules; the seat of the person
        self._deck = iter(shuffled(deck_of(game), seed, nonce))
        self._start = dice_start(seed, nonce)
        self.faults: list[tuple[int, str]] = []  # what bots did wrong, by seat

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
        """Take the action that somebody is known to have taken, with what a bot thinks there.

        A bot that learns may have thought otherwise then, and is not asked.
        """
        if self.over or word not in self.hand.actions:
            raise FeltError(f"The hand cannot have gone on with '{word}'.")
        bot = self.bots.get(self.hand.mover)
        thought = None if bot is None or bot.learns else self._think(bot)
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
            except (Exception, SystemExit) as error:
                self._fault(seat, f"failed as the hand ended ({type(error).__name__}: {error})")

    def _think(self, bot: Bot) -> Thought | None:
        try:
            return thought_of(bot, view_of(self.hand))
        except Exception:  # it was told as the hand was played
            return None

    def _deal(self) -> None:
        self.hand.act(self.hand.actions.index(next(self._deck)))

    def _bot_acts(self) -> None:
        seat = self.hand.mover
        _, fault = bot_acts(self.bots[seat], self.hand, Dice(self._start, len(self.actions)))
        if fault:
            self._fault(seat, fault)

    def _fault(self, seat: int, what: str) -> None:
        self.faults.append((seat, what))


def bot_acts(bot: Bot, hand: Hand, dice: Dice) -> tuple[Step, str]:
    """Let a bot move where it is its turn, with what it thought; and what it did wrong, if anything.

    One that fails checks or folds, as in the arena; what it thought then says nothing of what was done.
    """
    actions, number, fault = hand.actions, 0, ""
    try:
        thought = thought_of(bot, view_of(hand))
    except Exception as error:
        thought, fault = None, f"failed to say what it thinks ({type(error).__name__}: {error})"
    try:
        word = bot.act(view_of(hand), dice, Clock())
        if word in actions:
            number = actions.index(word)
        else:
            thought, fault = None, f"named '{word}'"
    except (Exception, SystemExit) as error:
        thought, fault = None, f"failed to act ({type(error).__name__}: {error})"
    return hand.act(number, thought), fault
