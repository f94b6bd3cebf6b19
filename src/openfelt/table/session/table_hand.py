"""One hand of a person against bots, dealt from a seed, so that it can be replayed exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from openfelt.bots.bot import Bot, Clock
from openfelt.bots.view import view_of
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.hand import Hand, Step, Thought
from openfelt.hands.record import HandRecord
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.review.bot_policies import thought_of
from openfelt.table.session.fair_dealing import dice_start, shuffled

NO_SEAT = -9  # of the person, where only bots play


class TableHand:
    """The rules, the shuffled deck and the bots in their seats; the person's actions come from outside."""

    def __init__(self, game: Game, bots: Mapping[int, Bot], seat: int, seed: str, nonce: str) -> None:
        self.hand = Hand(game)
        self.bots, self.seat = bots, seat  # bots by seat; the seat of the person
        self._deck = iter(shuffled(presentation_of(game).deck, seed, nonce))
        self._start = dice_start(seed, nonce)
        self.faults: list[tuple[int, str]] = []  # (seat, error) of bots that failed

    @property
    def over(self) -> bool:
        return self.hand.mover == TERMINAL

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions of all players so far."""
        return tuple(step.action for step in self.hand.steps if step.mover != CHANCE)

    def advance(self) -> None:
        """Deal, and let the bots act, until it is the person's turn or the hand is over."""
        while self.hand.mover not in (TERMINAL, self.seat):
            self._deal() if self.hand.mover == CHANCE else self._bot_acts()

    def act(self, word: str) -> None:
        """Take an action of the person, and advance."""
        actions = self.hand.actions
        if word not in actions:
            raise FeltError(f"'{word}' is not a legal action here; legal are {', '.join(actions)}.")
        self.hand.act(actions.index(word))
        self.advance()

    def replay(self, words: Iterable[str]) -> None:
        """Take the recorded actions of all players."""
        for word in words:
            self.deal()
            self._replay_action(word)
        self.deal()

    def deal(self) -> None:
        """Deal as far as it is chance's turn."""
        while self.hand.mover == CHANCE:
            self._deal()

    def _replay_action(self, word: str) -> Step:
        """Take a recorded action, with the probabilities of the bot that took it.

        A bot that learns may have had other probabilities then, so it is not asked.
        """
        if self.over or word not in self.hand.actions:
            raise FeltError(f"The recorded action '{word}' is not legal in this hand.")
        bot = self.bots.get(self.hand.mover)
        thought = None if bot is None or bot.learns else self._think(bot)
        return self.hand.act(self.hand.actions.index(word), thought)

    def record(self, number: int, names: tuple[str, ...]) -> HandRecord:
        """The finished hand with all cards."""
        dealt = tuple(step.action for step in self.hand.steps if step.mover == CHANCE)
        return HandRecord(self.hand.game.name, number, names, dealt, self.actions, self.hand.payoffs)

    def end(self) -> None:
        """Show the bots how the hand ended."""
        for seat, bot in self.bots.items():
            try:
                bot.end_hand(view_of(self.hand, seat), self.hand.payoffs[seat])
            except (Exception, SystemExit) as error:
                self._fault(seat, f"failed at the end of the hand ({type(error).__name__}: {error})")

    def _think(self, bot: Bot) -> Thought | None:
        try:
            thought = thought_of(bot, view_of(self.hand))
            if thought is None and searches(bot):
                bot.act(view_of(self.hand), Dice(self._start, len(self.actions)), Clock())
                thought = bot.considered()
        except Exception:  # reported when the hand was played
            return None
        return thought

    def _deal(self) -> None:
        self.hand.act(self.hand.actions.index(next(self._deck)))

    def _bot_acts(self) -> None:
        seat = self.hand.mover
        _, fault = bot_acts(self.bots[seat], self.hand, Dice(self._start, len(self.actions)))
        if fault:
            self._fault(seat, fault)

    def _fault(self, seat: int, what: str) -> None:
        self.faults.append((seat, what))


def searches(bot: Bot) -> bool:
    """Whether a bot decides by search: with the same random numbers it considers the same again."""
    return type(bot).considered is not Bot.considered


def bot_acts(bot: Bot, hand: Hand, dice: Dice) -> tuple[Step, str]:
    """Let the bot to act move; returns the step, with its probabilities, and the error if it failed.

    A bot that fails checks or folds, as in the arena. Its probabilities are then dropped, because the action
    was not drawn from them.
    """
    actions, number, fault = hand.actions, 0, ""
    try:
        thought = thought_of(bot, view_of(hand))
    except Exception as error:
        thought, fault = None, f"failed to report its probabilities ({type(error).__name__}: {error})"
    try:
        word = bot.act(view_of(hand), dice, Clock())
        if word in actions:
            number = actions.index(word)
            thought = thought or bot.considered()
        else:
            thought, fault = None, f"chose '{word}', which is not legal"
    except (Exception, SystemExit) as error:
        thought, fault = None, f"failed to act ({type(error).__name__}: {error})"
    return hand.act(number, thought), fault
