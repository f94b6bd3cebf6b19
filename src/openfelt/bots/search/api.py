"""`search`: estimate the actions at one decision of any game by tree search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch

from openfelt.bots.search.mcts import MctsSettings, SearchResult
from openfelt.bots.search.searcher import HoldemSearcher, TreeSearcher
from openfelt.core.errors import FeltError
from openfelt.games.game import AnyGame, Game
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.policy.holdem import parse_infoset
from openfelt.policy.policy import Policy
from openfelt.policy.tabular import require_tabular

ITERATIONS = 1_000


@dataclass(frozen=True)
class SearchEstimate:
    """What a search found at a decision; all payoffs are in the unit of the game."""

    action: str  # of the highest value
    values: dict[str, float]  # mean payoff after each action; nan if it was never taken
    visits: dict[str, float]
    iterations: int
    seconds: float


def search(
    game: AnyGame,
    player: int,
    infoset: str,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    c: float = MctsSettings.c,
    opponent: Policy | None = None,
    seed: int = 0,
) -> SearchEstimate:
    """Estimate the value of each action at an infoset by Monte Carlo tree search.

    Without an opponent's policy all players are simulated by UCT (PGC10). For search with a model of the
    opponent, or within a match, load a search bot: `felt.load_bot("mcts-relational", game)`.

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game, or hold'em.
    player : int
        The player to act.
    infoset : str
        The player's observations in order, as in `Policy.at`: "K check bet" in Leduc, "AhKh raise call
        Qh7h2s check" in hold'em.
    iterations : int, optional
        Number of simulations; 1,000 if `seconds` is not given either.
    seconds : float, optional
        Time limit.
    c : float
        Exploration constant, in the unit of the game.
    opponent : Policy, optional
        In enumerated games: the opponents follow this policy.
    seed : int
        Of the simulations.

    Returns
    -------
    SearchEstimate
        The best `action`, `values` and `visits` by action, `iterations` and `seconds`.

    Examples
    --------
    >>> raises = felt.rule_policy("leduc", "always-raise")
    >>> estimate = felt.search("leduc", 0, "K check bet", iterations=2_000, opponent=raises, seed=1)
    >>> estimate.values["call"] > 0 > estimate.values["fold"]
    True
    """
    if iterations is None and seconds is None:
        iterations = ITERATIONS
    limit = math.inf if seconds is None else seconds
    settings = MctsSettings(c=c)
    found, actions = _search(load_game(game), settings, player, infoset, opponent, iterations, limit, seed)
    return SearchEstimate(
        actions[found.picked],
        dict(zip(actions, found.values.tolist(), strict=True)),
        dict(zip(actions, found.visits.tolist(), strict=True)),
        found.iterations,
        found.seconds,
    )


@singledispatch
def _search(
    game: Game,
    settings: MctsSettings,
    player: int,
    infoset: str,
    opponent: Policy | None,
    iterations: int | None,
    seconds: float,
    seed: int,
) -> tuple[SearchResult, tuple[str, ...]]:
    """The result, and the names of the actions."""
    known = None if opponent is None else require_tabular(opponent)
    searcher = TreeSearcher(game, settings, opponent=known)
    row = searcher.tree.find_row(player, infoset)
    found = searcher.search(row, iterations=iterations, seconds=seconds, seed=seed)
    return found, searcher.tree.actions(row)


@_search.register
def _search_holdem(
    game: Holdem,
    settings: MctsSettings,
    player: int,
    infoset: str,
    opponent: Policy | None,
    iterations: int | None,
    seconds: float,
    seed: int,
) -> tuple[SearchResult, tuple[str, ...]]:
    if opponent is not None:
        raise FeltError("In hold'em, search with a model of the opponent: felt.load_bot('mcts-tally', game).")
    hole, board, line = parse_infoset(infoset)
    searcher = HoldemSearcher(game, settings)
    found = searcher.search(player, hole, board, line, iterations=iterations, seconds=seconds, seed=seed)
    return found, searcher.tree.actions(searcher.tree.find_node(line))
