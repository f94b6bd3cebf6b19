"""External-sampling and chance-sampling Monte-Carlo CFR: one traversal, two ways to treat the others.

Lanctot, Waugh, Zinkevich & Bowling 2009; chance sampling is that of Zinkevich et al. 2007. An iteration
walks the game once for each player in turn: all of his actions are tried, chance is drawn, and the others'
actions are drawn too (external sampling) or all walked with their probability (chance sampling).

A row's policy is fixed when a traversal first meets it, so that several histories of one row see the same.
(Under external sampling it could not change meanwhile: the traverser meets a row once, and the regrets of
others rest.) Actions of others are drawn anew at each history, as OpenSpiel does, and not once for each of
their rows. Averages: under external sampling those of the next player are updated in the traversal of the one
before him, as OpenSpiel does, for there the row is met as often as he plays to it. (With three players it
also depends on how often the third does.) Under chance sampling a player's own reach is known and counts once
a traversal.

How a row is played is a question of its own, `play_row`: fictitious play is another answer to it on the same
traversal (`sampled_fictitious_play.py`).
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from openfelt.core.atomics import add
from openfelt.core.jit import Floats, part
from openfelt.solve.sampling.gpu import Crowd, Shapes
from openfelt.solve.sampling.sampling_solver import Learner
from openfelt.solve.traverse.episode import (
    PLACE,
    PLAYER,
    begin,
    draw,
    first_slot,
    follow,
    implements,
    num_actions,
    num_players,
    payoff,
    question,
)
from openfelt.solve.traverse.regret_matching import AVERAGE, REGRET, match_regrets
from openfelt.solve.traverse.worker import Notes, Worker, WorkerSize, iterate


class Walk(NamedTuple):
    """How a game is walked."""

    samples_others: bool
    most_actions: int


class Sums(NamedTuple):
    """What is learned."""

    sums: Floats  # [slots, 2] regrets, and the average policy's weights


# Notes of a decision whose actions are all tried, one above the other: its node, which action is being tried;
# the reach of the player whose traversal it is, that of all other players, chance apart; from POLICY on the
# policy, and after it the value to him of each action tried so far.
NODE, ACTION = 0, 1
OWN_REACH, OTHERS_REACH, POLICY = range(3)


class ExternalMCCFR(Learner):
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
        # One row more than decisions: there the policy stands of one that is not walked but drawn.
        spots = 1 if self.samples_others else self.tree.num_edges
        real = POLICY + 2 * self.most_actions
        return WorkerSize(self.tree.players, self.depth + 1, whole=2, real=real, spots=spots)

    def _crowd(self) -> Crowd:
        return Crowd(256, 0.5)

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
    runs_on_gpu: ClassVar[bool] = False  # it needs a note for every row of the game in each thread


@question
def play_row(how: Any, sums: Floats, first: int, last: int, policies: Floats, row: int, column: int) -> None:
    """The policy of a row, by its sums, written from that column on; learners `implement` it."""
    raise NotImplementedError


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
        _traverse(how, tree, tables.sums, own, player, number * players + player)


@part
def _traverse(how: Any, tree: Any, sums: Floats, own: Worker, traverser: int, traversal: int) -> None:
    """Update the regrets of one player's rows.

    The recursion is written out: `depth` decisions are open, and the loop goes down to a leaf and then up
    to the last decision that has an action left.
    """
    deal, notes, stream = own.deal, own.notes, own.stream
    next_player = (traverser + 1) % num_players(tree)
    depth, own_reach, others_reach = 0, 1.0, 1.0
    node = begin(tree, deal, stream)
    while True:
        player = tree.node[node, PLAYER]
        while player >= 0:
            first, actions = first_slot(tree, deal, node), num_actions(tree, node)
            if how.samples_others:
                play_row(how, sums, first, first + actions, notes.real, depth, POLICY)
                is_new = True
            else:
                is_new = _meet(how, sums, notes, first, tree.node[node, PLACE], actions, depth, traversal)
            if how.samples_others and player != traverser:
                if player == next_player:
                    _add_to_average(sums, notes, first, actions, depth, 1.0)
                drawn = draw(notes.real, depth, POLICY, POLICY + actions, stream) - POLICY
                node = follow(tree, deal, node, drawn, stream)
            else:
                if is_new and player == traverser and not how.samples_others:
                    _add_to_average(sums, notes, first, actions, depth, own_reach)
                notes.whole[depth, NODE], notes.whole[depth, ACTION] = node, 0
                notes.real[depth, OWN_REACH], notes.real[depth, OTHERS_REACH] = own_reach, others_reach
                own_reach, others_reach = _try(how, tree, notes, depth, traverser)
                node = follow(tree, deal, node, 0, stream)
                depth += 1
            player = tree.node[node, PLAYER]
        value = payoff(tree, deal, node, traverser)
        while depth > 0 and not _has_more(how, tree, notes, depth - 1, value):
            depth -= 1
            value = _close(how, tree, sums, deal, notes, depth, traverser)
        if depth == 0:
            return
        own_reach, others_reach = _try(how, tree, notes, depth - 1, traverser)
        node = follow(tree, deal, notes.whole[depth - 1, NODE], notes.whole[depth - 1, ACTION], stream)


@part
def _try(how: Any, tree: Any, notes: Notes, depth: int, traverser: int) -> tuple[float, float]:
    """The reach after the action that is next at an open decision."""
    own_reach, others_reach = notes.real[depth, OWN_REACH], notes.real[depth, OTHERS_REACH]
    if not how.samples_others:
        probability = notes.real[depth, POLICY + notes.whole[depth, ACTION]]
        if tree.node[notes.whole[depth, NODE], PLAYER] == traverser:
            own_reach *= probability
        else:
            others_reach *= probability
    return own_reach, others_reach


@part
def _has_more(how: Any, tree: Any, notes: Notes, depth: int, value: float) -> bool:
    """Note what the action was worth that was just tried, and go on to the next; False if there is none."""
    notes.real[depth, POLICY + how.most_actions + notes.whole[depth, ACTION]] = value
    notes.whole[depth, ACTION] += 1
    return bool(notes.whole[depth, ACTION] < num_actions(tree, notes.whole[depth, NODE]))


@part
def _close(how: Any, tree: Any, sums: Floats, deal: Any, notes: Notes, depth: int, traverser: int) -> float:
    """All actions of a decision are tried: learn from them, if it is the traverser's; returns its value."""
    node, values = notes.whole[depth, NODE], POLICY + how.most_actions
    actions, value = num_actions(tree, node), 0.0
    for action in range(actions):
        value += notes.real[depth, POLICY + action] * notes.real[depth, values + action]
    if tree.node[node, PLAYER] == traverser:
        first = first_slot(tree, deal, node)
        for action in range(actions):
            regret = notes.real[depth, OTHERS_REACH] * (notes.real[depth, values + action] - value)
            add(sums, first + action, REGRET, regret)
    return value


@part
def _add_to_average(sums: Floats, notes: Notes, first: int, actions: int, depth: int, weight: float) -> None:
    for action in range(actions):
        add(sums, first + action, AVERAGE, weight * notes.real[depth, POLICY + action])


@part
def _meet(
    how: Any, sums: Floats, notes: Notes, first: int, spot: int, actions: int, depth: int, traversal: int
) -> bool:
    """Fix the row's policy, if this traversal has not met it before; returns whether it had not."""
    is_new = bool(notes.met[spot] != traversal)
    if is_new:
        notes.met[spot] = traversal
        play_row(how, sums, first, first + actions, notes.policy, 0, spot)
    for action in range(actions):
        notes.real[depth, POLICY + action] = notes.policy[0, spot + action]
    return is_new
