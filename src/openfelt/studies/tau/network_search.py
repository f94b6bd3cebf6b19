"""TAU, section 5.1: matches of a search that expands actions by a network against random expansion."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from openfelt.arena.match import Progress, match
from openfelt.bots.formula.chen import chen_score
from openfelt.bots.search.mcts import AT_RANDOM, NETWORK, MctsSettings
from openfelt.bots.search_bot import MctsBot
from openfelt.cards.deck import PAIR_CARDS
from openfelt.core.errors import FeltError
from openfelt.core.workers import Job, Workers, in_order, own_threads
from openfelt.games.compile.betting_tree import compile_holdem
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem
from openfelt.opponents.models.network import Network, Weights, new_network
from openfelt.opponents.models.network_features import Features, features_of
from openfelt.studies.match_table import Winnings

ITERATIONS, TIME = "iterations", "time"  # what is equal for both searches
BUDGETS = {200: 1.0, 1_000: 0.4}  # iterations a decision -> share of the study's hands that are played


class ExpansionBot(MctsBot):
    """A hold'em search in which the network, or chance, orders the untried actions of an infoset."""

    def __init__(self, game: Game, network: Network | None, iterations: int) -> None:
        if network and len(network.at_node) != compile_holdem(game).num_nodes:
            raise FeltError(f"The network was made for another game than {game.name}.")
        settings = MctsSettings(expand=NETWORK if network else AT_RANDOM)
        super().__init__(game, settings, iterations=iterations, expander=network)


def holdem_features() -> Features:
    """The features of two-player hold'em."""
    rules = Holdem()
    return features_of(compile_holdem(rules), [chen_score(cards) for cards in PAIR_CARDS.tolist()])


class NetworkMatch(NamedTuple):
    """A match of expansion by the network against random expansion."""

    budget: int  # iterations a decision of random expansion
    iterations: int  # of the network
    hands: int
    seed: int
    folder: Path


@dataclass(frozen=True)
class NetworkMatchResult:
    """Winnings of the network, and the time of a decision of both searches."""

    won: Winnings  # mbb/h
    iterations: int
    milliseconds: float
    milliseconds_random: float


MatchResults = dict[tuple[int, str], NetworkMatchResult]  # by budget, and what is equal


def _play(planned: NetworkMatch, network: Network, progress: Progress = lambda _: None) -> NetworkMatchResult:
    game = Holdem()
    bots = ExpansionBot(game, network, planned.iterations), ExpansionBot(game, None, planned.budget)
    match(*bots, hands=8, seed=planned.seed)  # compiles, so that the times below do not include it
    result = match(*bots, hands=planned.hands, seed=planned.seed, folder=planned.folder, progress=progress)
    for score in result.scores:
        if report := score.stats.fault_report(score.name):
            raise FeltError(report)
    took = [each.stats.mean_milliseconds for each in result.scores]
    return NetworkMatchResult(Winnings.of_first_bot(result), planned.iterations, took[0], took[1])


def _open(weights: Weights) -> Callable[[NetworkMatch], NetworkMatchResult]:
    return partial(_play, network=new_network(holdem_features(), weights))


def equal_time_iterations(results: MatchResults, budget: int) -> int:
    """Iterations of the network that take as long as `budget` random ones, by linear interpolation."""
    few, many = (results[each, ITERATIONS] for each in BUDGETS)
    slope = (many.milliseconds - few.milliseconds) / (many.iterations - few.iterations)
    here = results[budget, ITERATIONS]
    if not 0 < slope < math.inf:  # too few hands for a meaningful time
        return budget
    return max(1, round(budget - (here.milliseconds - here.milliseconds_random) / slope))


def play_all(
    weights: Weights, hands: int, seed: int, processes: Workers, parts: Path, progress: Progress
) -> MatchResults:
    """Play with equal iterations first; their times give the iterations of the equal-time matches."""
    results: MatchResults = {}
    network = new_network(holdem_features(), weights)
    for equal in (ITERATIONS, TIME):
        matches = []
        for budget, share in BUDGETS.items():
            iterations = budget if equal == ITERATIONS else equal_time_iterations(results, budget)
            folder = parts / f"{budget}-{equal}-{iterations}"
            matches.append(NetworkMatch(budget, iterations, int(hands * share), seed, folder))
        # On this machine also with a cluster: times of decisions are compared.
        job = Job(_open, weights, here=partial(_play, network=network, progress=progress))
        count = min(own_threads(processes), len(matches))
        played = [result for _, result in in_order(job, matches, count)]
        if count > 1:
            progress(sum(each.hands for each in matches))
        results |= {(each.budget, equal): result for each, result in zip(matches, played, strict=True)}
    return results
