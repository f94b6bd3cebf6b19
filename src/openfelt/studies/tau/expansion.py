"""TAU, section 5.1: searchers that try actions by a network or at random, and matches of the two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

from openfelt.arena.match import Progress, match
from openfelt.bots.formula.chen import chen_score
from openfelt.bots.search.mcts import AT_RANDOM, NETWORK, MctsSettings
from openfelt.bots.search_bot import MctsBot
from openfelt.cards.deck import PAIR_CARDS
from openfelt.core.errors import FeltError
from openfelt.core.workers import in_processes
from openfelt.games.compile.betting_tree import compile_holdem
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem
from openfelt.opponents.models.network import Network, Weights, new_network
from openfelt.opponents.models.network_features import Features, features_of
from openfelt.studies.match_table import Measured

ITERATIONS, TIME = "iterations", "time"  # what can be equal
BUDGETS = {200: 1.0, 1_000: 0.4}  # iterations a decision; and the share of a match's hands that are played


class ExpandBot(MctsBot):
    """Searches in hold'em; which action of a row it tries first is the network's say, or chance's."""

    def __init__(self, game: Game, network: Network | None, iterations: int) -> None:
        if network and len(network.at_node) != compile_holdem(game).num_nodes:
            raise FeltError(f"The network was made for another game than {game.name}.")
        settings = MctsSettings(expand=NETWORK if network else AT_RANDOM)
        super().__init__(game, settings, iterations=iterations, expander=network)


def own_features() -> Features:
    """Of the game that is played here."""
    rules = Holdem()
    return features_of(compile_holdem(rules), [chen_score(cards) for cards in PAIR_CARDS.tolist()])


class Meeting(NamedTuple):
    """A match of the network against chance."""

    budget: int  # of chance: iterations a decision
    iterations: int  # of the network
    hands: int
    seed: int
    folder: Path


@dataclass(frozen=True)
class Outcome:
    """What the network won, and how long each took for a decision."""

    won: Measured  # mbb/h
    iterations: int
    milliseconds: float
    milliseconds_of_chance: float


def _meet(meeting: Meeting, network: Network, progress: Progress = lambda _: None) -> Outcome:
    game = Holdem()
    bots = ExpandBot(game, network, meeting.iterations), ExpandBot(game, None, meeting.budget)
    match(*bots, hands=8, seed=meeting.seed)  # so that nobody's time is spent on compiling
    result = match(*bots, hands=meeting.hands, seed=meeting.seed, folder=meeting.folder, progress=progress)
    clever, chance = result.scores
    for score in result.scores:
        if score.conduct.told(score.name):
            raise FeltError(score.conduct.told(score.name))
    won = result.amount(clever.won)
    took = [1000 * each.conduct.seconds / each.conduct.decisions for each in (clever, chance)]
    measured = Measured(won.mean, won.interval(0.68), won.interval(), result.hands)
    return Outcome(measured, meeting.iterations, took[0], took[1])


_NETWORKS: list[Network] = []  # of a process that only plays matches


def _open(weights: Weights, _: Event) -> None:
    _NETWORKS.append(new_network(own_features(), weights))


def _meet_there(meeting: Meeting) -> Outcome:
    return _meet(meeting, _NETWORKS[0])


def same_time(outcomes: dict[tuple[int, str], Outcome], budget: int) -> int:
    """Iterations of the network that take as long as so many of chance, on a line through what was timed."""
    few, many = (outcomes[each, ITERATIONS] for each in BUDGETS)
    slope = (many.milliseconds - few.milliseconds) / (many.iterations - few.iterations)
    here = outcomes[budget, ITERATIONS]
    if not 0 < slope < math.inf:  # so few hands that the clock says nothing
        return budget
    return max(1, round(budget - (here.milliseconds - here.milliseconds_of_chance) / slope))


def meet_all(
    weights: Weights, hands: int, seed: int, processes: int, parts: Path, progress: Progress
) -> dict[tuple[int, str], Outcome]:
    """First with equal iterations, which tells how many take as long."""
    found: dict[tuple[int, str], Outcome] = {}
    network = new_network(own_features(), weights)
    for equal in (ITERATIONS, TIME):
        meetings = []
        for budget, share in BUDGETS.items():
            iterations = budget if equal == ITERATIONS else same_time(found, budget)
            folder = parts / f"{budget}-{equal}-{iterations}"
            meetings.append(Meeting(budget, iterations, int(hands * share), seed, folder))
        if processes == 1:
            outcomes = [_meet(meeting, network, progress) for meeting in meetings]
        else:
            outcomes = list(in_processes(_meet_there, meetings, processes, _open, weights))
            progress(sum(meeting.hands for meeting in meetings))
        found |= {(each.budget, equal): won for each, won in zip(meetings, outcomes, strict=True)}
    return found
