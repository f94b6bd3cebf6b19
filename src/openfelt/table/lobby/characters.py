"""The names under which the included bots sit at the table, and their styles in one line."""

from __future__ import annotations

from typing import NamedTuple


class Character(NamedTuple):
    """How a bot is introduced to players."""

    title: str
    style: str


CHARACTERS = {
    "default": Character("The Professor", "Balanced and patient; gives little away and is hard to exploit."),
    "resolver": Character("The Closer", "Plays like The Professor, and solves every river anew."),
    "sparbot-like": Character("The Boxer", "Solid and balanced, by a coarse plan."),
    "fellomen-like": Character("The Veteran", "Balanced and aggressive; learned by playing itself."),
    "poki-like": Character("The Grinder", "Tight; infers from your bets what you may hold."),
    "chen": Character("The Accountant", "Counts points before the flop, then bets what its hand is worth."),
    "ace1": Character("The Tourist", "Looks at its own two cards and never at the board."),
    "always-call": Character("The Calling Station", "Never folds and never raises. Bet your good hands."),
    "always-raise": Character("The Maniac", "Bets and raises with everything."),
    "always-fold": Character("The Mouse", "Folds to every bet."),
    "random": Character("The Monkey", "Presses buttons at random."),
    "probe": Character("The Gambler", "Never folds; raises half of the time."),
    "mcts": Character("The Explorer", "Simulates the rest of the hand at each decision."),
    "mcts-tally": Character("The Bookkeeper", "Counts what you do, and adapts to it."),
    "mcts-relational": Character("The Profiler", "Learns rules of how you play, and adapts to them."),
    "equilibrium": Character("The Oracle", "Plays an equilibrium: it cannot be beaten in the long run."),
    "smooth-uct": Character("The Apprentice", "Close to an equilibrium, learned by playing itself."),
    "uct": Character("The Daredevil", "Strong but predictable; learned by trial and error."),
}
SEARCH_BOTS = ("mcts", "mcts-tally", "mcts-relational")  # decide by search, without action probabilities

CALLED_BOTS = ("resolver", "poki-like", "chen", "ace1")  # are called for each decision of a rollout


def title_of(name: str) -> str:
    """The name under which a bot sits at the table; other bots keep theirs."""
    return CHARACTERS[name].title if name in CHARACTERS else name


def can_be_drilled(name: str) -> bool:
    """Whether decisions against a bot of hold'em can be judged at once."""
    return has_ranges(name) and name.partition("(")[0] not in CALLED_BOTS


def has_ranges(name: str) -> bool:
    """Whether a bot has action probabilities that can be shown; search bots do not, with any parameters."""
    return name.partition("(")[0] not in SEARCH_BOTS
