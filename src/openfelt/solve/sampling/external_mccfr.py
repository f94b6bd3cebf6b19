"""External-sampling and chance-sampling Monte Carlo CFR: one traversal, two treatments of the opponents.

Lanctot, Waugh, Zinkevich & Bowling 2009; chance sampling is that of Zinkevich et al. 2007. An iteration
traverses the game once for each player in turn: it tries all of the player's actions, samples chance, and
samples the opponents' actions too (external sampling) or follows them all with their probabilities (chance
sampling).

An infoset's policy is fixed when a traversal first visits it, so that all of its histories use the same one.
(Under external sampling it cannot change meanwhile: the traverser visits an infoset once, and the opponents'
regrets are not updated.) Opponents' actions are drawn anew at each history, as OpenSpiel does, not once per
infoset.

Averages: under external sampling those of the next player are updated in the traversal of the player before
it, as OpenSpiel does, since that traversal visits an infoset as often as the next player plays to it. (With
three players it also depends on how often the third does.) Under chance sampling a player's own reach is
known, and weighs its policy once per traversal.

The policy of an infoset is a dispatched function, `play_row`; fictitious play implements another one on the
same traversal (`sampled_fictitious_play.py`). So is the use of regrets, `keep_regrets`: Deep CFR puts them
into a memory (`neural/deep_cfr.py`).
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from openfelt.core.atomics import add
from openfelt.core.jit import Floats, part
from openfelt.games.compile.factored_tree import FactoredTree
from openfelt.games.compile.tree import Tree, too_many_histories
from openfelt.games.game import AnyGame
from openfelt.games.registry import load_game
from openfelt.solve.sampling.gpu import InFlightLimits, Shapes
from openfelt.solve.sampling.sampling_solver import SamplingSolver
from openfelt.solve.traverse.episode import (
    PLACE,
    PLAYER,
    begin,
    dispatched,
    draw,
    first_slot,
    follow,
    implements,
    num_actions,
    num_players,
    payoff,
    restore_past,
    save_past,
)
from openfelt.solve.traverse.regret_matching import AVERAGE, REGRET, match_regrets
from openfelt.solve.traverse.sampling_worker import Trace, Worker, WorkerSize, iterate


class Walk(NamedTuple):
    """How a game is traversed."""

    samples_others: bool
    most_actions: int


class Sums(NamedTuple):
    """What is learned."""

    sums: Floats  # [slots, 2] regrets, and the average policy's weights


# Trace of an open decision, one whose actions are all tried: its node, the action being tried, and from PAST
# on what the deal must hold there; the traverser's reach, that of all its opponents without chance; from
# POLICY on the policy, and after it the value to the traverser of each action tried so far.
NODE, ACTION, PAST = range(3)
OWN_REACH, OTHERS_REACH, POLICY = range(3)


class ExternalMCCFR(SamplingSolver):
    """External-sampling Monte Carlo CFR: chance and opponents are sampled (Lanctot et al. 2009).

    Parameters
    ----------
    game : Game, str or Path
        Any game, hold'em included.
    **options
        `seed`, `threads`, `device`, `in_flight` and `restriction`, as in `Solver`.

    Examples
    --------
    >>> solver = felt.ExternalMCCFR("leduc", seed=1).run(10_000)
    >>> solver.measure().exploitability < 0.5
    True
    """

    name: ClassVar[str] = "external-mccfr"
    summary: ClassVar[str] = "CFR with chance and opponents sampled (Lanctot et al. 2009)"
    work: ClassVar[str] = "iterations"
    first_measurement: ClassVar[int] = 100
    samples_others: ClassVar[bool] = True
    walk_type: ClassVar[Any] = Walk
    tables_type: ClassVar[Any] = Sums
    exchanges: ClassVar[bool] = False

    def _table_shapes(self) -> Shapes:
        return {"sums": ((self.tree.num_slots, 2), np.float64)}

    def _worker_size(self) -> WorkerSize:
        # One row more than decisions, for the policy of a decision that is sampled.
        edges = 1 if self.samples_others else self.tree.num_edges
        real = POLICY + 2 * self.most_actions
        whole = PAST + self.tree.players
        return WorkerSize(self.tree.players, self.depth + 1, whole=whole, real=real, edges=edges)

    def _in_flight_limits(self) -> InFlightLimits:
        return InFlightLimits(256, 0.5)

    def _how(self) -> Any:
        return self.walk_type(self.samples_others, self.most_actions)

    @property
    def weights(self) -> Floats:
        return self.summed("sums", AVERAGE)


class ChanceCFR(ExternalMCCFR):
    """Chance-sampled CFR: only chance is sampled (Zinkevich et al. 2007).

    Parameters
    ----------
    game : Game, str or Path
        Any game, hold'em included.
    **options
        `seed`, `threads` and `restriction`, as in `Solver`. It does not run on a GPU.

    Examples
    --------
    >>> solver = felt.ChanceCFR("kuhn", seed=1).run(10_000)
    >>> solver.measure().exploitability < 0.05
    True
    """

    name: ClassVar[str] = "chance-cfr"
    summary: ClassVar[str] = "CFR with chance sampled (Zinkevich et al. 2007)"
    samples_others: ClassVar[bool] = False
    runs_on_gpu: ClassVar[bool] = False  # each thread would need a trace of every infoset

    def _compile(self, game: AnyGame) -> Tree:
        rules = load_game(game.game if isinstance(game, Tree) else game)
        if isinstance(game, FactoredTree) or rules.is_factored:
            raise too_many_histories(rules.name)
        return super()._compile(game)


@dispatched
def play_row(how: Any, sums: Floats, first: int, last: int, policies: Floats, row: int, column: int) -> None:
    """The policy of an infoset by its sums, written from `column` on; each solver `implements` it."""
    raise NotImplementedError


@dispatched
def keep_regrets(
    how: Any, sums: Floats, trace: Trace, depth: int, first: int, actions: int, value: float
) -> None:
    """Use the regrets of a decision of the traverser; each solver `implements` it."""
    raise NotImplementedError


@implements(keep_regrets, Walk)
def add_regrets(
    how: Any, sums: Floats, trace: Trace, depth: int, first: int, actions: int, value: float
) -> None:
    """Add them to the sums."""
    values = POLICY + how.most_actions
    for action in range(actions):
        regret = trace.real[depth, OTHERS_REACH] * (trace.real[depth, values + action] - value)
        add(sums, first + action, REGRET, regret)


@implements(play_row, Walk)
def _play_row(
    how: Walk, sums: Floats, first: int, last: int, policies: Floats, row: int, column: int
) -> None:
    match_regrets(sums, first, last, policies, row, column)


@implements(iterate, Walk)
def traverse_in_turn(how: Any, tree: Any, tables: Sums, own: Worker, number: int) -> None:
    """One traversal for each player."""
    players = num_players(tree)
    for player in range(players):
        traverse(how, tree, tables.sums, own, player, number * players + player)


@part
def traverse(how: Any, tree: Any, sums: Floats, own: Worker, traverser: int, traversal: int) -> None:
    """Update the regrets of one player's infosets.

    The recursion is unrolled into a loop: `depth` decisions are open; it goes down to a leaf, and then up to
    the last decision that has an action left.
    """
    deal, trace, stream = own.deal, own.trace, own.stream
    next_player = (traverser + 1) % num_players(tree)
    depth, own_reach, others_reach = 0, 1.0, 1.0
    node = begin(tree, deal, stream)
    while True:
        player = tree.node[node, PLAYER]
        while player >= 0:
            first, actions = first_slot(tree, deal, node), num_actions(tree, node)
            if how.samples_others:
                play_row(how, sums, first, first + actions, trace.real, depth, POLICY)
                is_new = True
            else:
                is_new = _meet(how, sums, trace, first, tree.node[node, PLACE], actions, depth, traversal)
            if how.samples_others and player != traverser:
                if player == next_player:
                    _add_to_average(sums, trace, first, actions, depth, 1.0)
                drawn = draw(trace.real, depth, POLICY, POLICY + actions, stream) - POLICY
                node = follow(tree, deal, node, drawn, stream)
            else:
                if is_new and player == traverser and not how.samples_others:
                    _add_to_average(sums, trace, first, actions, depth, own_reach)
                trace.whole[depth, NODE], trace.whole[depth, ACTION] = node, 0
                save_past(tree, deal, trace.whole, depth, PAST)
                trace.real[depth, OWN_REACH], trace.real[depth, OTHERS_REACH] = own_reach, others_reach
                own_reach, others_reach = _try(how, tree, trace, depth, traverser)
                node = follow(tree, deal, node, 0, stream)
                depth += 1
            player = tree.node[node, PLAYER]
        value = payoff(tree, deal, node, traverser)
        while depth > 0 and not _has_more(how, tree, trace, depth - 1, value):
            depth -= 1
            restore_past(tree, deal, trace.whole, depth, PAST)
            value = _close(how, tree, sums, deal, trace, depth, traverser)
        if depth == 0:
            return
        own_reach, others_reach = _try(how, tree, trace, depth - 1, traverser)
        restore_past(tree, deal, trace.whole, depth - 1, PAST)
        node = follow(tree, deal, trace.whole[depth - 1, NODE], trace.whole[depth - 1, ACTION], stream)


@part
def _try(how: Any, tree: Any, trace: Trace, depth: int, traverser: int) -> tuple[float, float]:
    """The reach after the action that is next at an open decision."""
    own_reach, others_reach = trace.real[depth, OWN_REACH], trace.real[depth, OTHERS_REACH]
    if not how.samples_others:
        probability = trace.real[depth, POLICY + trace.whole[depth, ACTION]]
        if tree.node[trace.whole[depth, NODE], PLAYER] == traverser:
            own_reach *= probability
        else:
            others_reach *= probability
    return own_reach, others_reach


@part
def _has_more(how: Any, tree: Any, trace: Trace, depth: int, value: float) -> bool:
    """Record the value of the action just tried, and advance to the next; False if there is none."""
    trace.real[depth, POLICY + how.most_actions + trace.whole[depth, ACTION]] = value
    trace.whole[depth, ACTION] += 1
    return bool(trace.whole[depth, ACTION] < num_actions(tree, trace.whole[depth, NODE]))


@part
def _close(how: Any, tree: Any, sums: Floats, deal: Any, trace: Trace, depth: int, traverser: int) -> float:
    """All actions of a decision are tried: update regrets, if it is the traverser's; returns its value."""
    node, values = trace.whole[depth, NODE], POLICY + how.most_actions
    actions, value = num_actions(tree, node), 0.0
    for action in range(actions):
        value += trace.real[depth, POLICY + action] * trace.real[depth, values + action]
    if tree.node[node, PLAYER] == traverser:
        keep_regrets(how, sums, trace, depth, first_slot(tree, deal, node), actions, value)
    return value


@part
def _add_to_average(sums: Floats, trace: Trace, first: int, actions: int, depth: int, weight: float) -> None:
    for action in range(actions):
        add(sums, first + action, AVERAGE, weight * trace.real[depth, POLICY + action])


@part
def _meet(
    how: Any, sums: Floats, trace: Trace, first: int, edge: int, actions: int, depth: int, traversal: int
) -> bool:
    """Fix the infoset's policy at the first visit of this traversal; returns whether this is the first."""
    is_new = bool(trace.met[edge] != traversal)
    if is_new:
        trace.met[edge] = traversal
        play_row(how, sums, first, first + actions, trace.policy, 0, edge)
    for action in range(actions):
        trace.real[depth, POLICY + action] = trace.policy[0, edge + action]
    return is_new
