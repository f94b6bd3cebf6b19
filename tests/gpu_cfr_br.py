"""CFR-BR on a GPU, or under numba's simulator of one: cases of `gpu_cases.py`."""

from __future__ import annotations

import numpy as np
import pytest
from test_cfr_br import NINE, learner

from openfelt.cards.deck import FLOP, PAIRS, RIVER, TURN
from openfelt.cards.public_cards import Deck
from openfelt.core.cuda import is_simulated
from openfelt.solve.vector.betting_lines import FIRST
from openfelt.solve.vector.cfr_br import CFRBR
from openfelt.solve.vector.gpu.player import edges_of_rows, from_rows, to_rows
from openfelt.solve.vector.gpu.river import learn_river, respond_river
from openfelt.solve.vector.iteration import iterate, iterate_both, possible_pairs
from openfelt.solve.vector.public_chance_cfr import PublicChanceCFR
from openfelt.solve.vector.streets import street_tables

TEN = Deck(5, 2)  # flushes and straights
FIRST_ROOT = 1  # blocks of the river, if one is enough


def both(deck, bets, kind=CFRBR, **options):
    """A solver on the CPU and one on the GPU, with the same random regrets."""
    here = learner(deck, bets, kind, **options)
    there = learner(deck, bets, kind, device="cuda", in_flight=1, **options)
    draw = np.random.default_rng(5)
    for name, table in here.tables().items():
        if name != "average":
            table[...] = there.tables()[name][...] = draw.uniform(1, 3, table.shape).astype(np.float32)
    here._resumed()
    there._resumed()
    return here, there


def roots_on_cpu(solver, gpu, street):
    """[roots of the GPU] the number of each root on the CPU, -1 where the game has none."""
    first = street_tables(solver.tree)[street].edge[:, 0]
    edges = edges_of_rows(solver.tree, gpu.betting, street, FIRST)[:, 0]
    place = {int(edge): root for root, edge in enumerate(first)}
    return np.array([place[int(edge)] if edge >= 0 else -1 for edge in edges])


def by_root(table, pairs, places):
    """A table of the river on the CPU [roots, hands], as the GPU has it."""
    found = np.zeros((1, len(places), PAIRS), np.float32)
    for root, place in enumerate(places):
        if place >= 0:
            found[0, root, pairs] = table[place, : len(pairs)]
    return found


def close(found, wanted):
    assert abs(wanted).max() > 0
    np.testing.assert_allclose(found, wanted, rtol=0, atol=5e-6 * abs(wanted).max())


def rows_go_to_slots_and_back(folder):
    _, there = both(NINE, 2)
    for gpu in there._gpu.players:
        for street in (FLOP, TURN, RIVER):
            edges, slots = gpu.edges(street), gpu.slots(there.tables()["regrets"], street)
            assert sorted(edges[edges >= 0].tolist()) == list(range(slots.shape[1]))
            back = np.zeros_like(slots)
            from_rows(edges, to_rows(edges, slots), back)
            assert np.array_equal(back, slots.astype(np.float32))


def boards_are_learned_as_on_the_cpu(folder):
    """In the simulator: the first root of the river, and the other streets from the CPU's rivers."""
    boards_are_learned(NINE, 1, trunk="hands")
    decks = [(NINE, 1)] if is_simulated() else [(TEN, 3), (Deck(3, 4), 4), (Deck(9, 1), 2)]
    for deck, bets in decks:
        boards_are_learned(deck, bets, trunk="buckets", river_step=3)
    if not is_simulated():  # a race would not show in the simulator
        boards_are_learned(Deck(3, 4), 4, river_step=2)
    if not is_simulated():  # a thread for each of a million hands takes too long there
        boards_are_learned(NINE, 1, lossless=True)


def boards_are_learned(deck, bets, **options):
    """One iteration of either seat, with the CPU's tables afterwards."""
    here, there = both(deck, bets, **options)
    for seat in range(1 if is_simulated() else 2):
        board, gpu = here.board(1), there._gpu.players[seat]
        begun = {name: table.copy() for name, table in here.tables().items()}
        work, cards = here._work[seat], here._boards.cards(board)
        one, other = here._learners[seat], here._opponents[seat]
        offset = here._offset(1)
        sampled = here._boards.sampled_rivers(board, here.settings.river_step, offset)
        won = iterate(here._betting, cards, sampled, one, other, (1.0, 1.0), work)
        pairs = possible_pairs(deck.live, cards)
        places = roots_on_cpu(here, gpu, RIVER)
        river = [by_root(table, pairs, places) for table in work.value[2]]
        blocks = 1 + int(np.flatnonzero(river[seat].any(axis=2)[0])[0])
        one_seat(there._gpu, seat, (board, offset), river, places, blocks)
        there._behind = True
        assert there._gpu.opponents_won()[seat] == pytest.approx(won, rel=1e-5)
        for name, table in here.tables().items():
            if name in ("regrets", "average") or name.startswith(f"opponent.{seat}"):
                found, wanted = there.tables()[name] - begun[name], table - begun[name]
                if is_simulated() and name in ("regrets", "average"):
                    found, wanted = _without_other_rivers(gpu, blocks, found, wanted)
                if wanted.any():
                    close(found, wanted)
                else:  # with one bet the opponent of the second seat has no decision before the flop
                    assert not found.any(), name


def one_seat(gpu, seat, deal_of, river, places, some):
    """An iteration of one seat; in the simulator the river's values of all roots but some are the CPU's."""
    deal, players, opponents = gpu.deal, gpu.players, gpu.opponents
    whole = deal.run

    def run(kernel, blocks, *arguments, **how):
        name = getattr(kernel, "__name__", "") or kernel.py_func.__name__
        if name in (respond_river.__name__, learn_river.__name__):
            whole(kernel, some, *arguments, **how)
            player = 1 - seat if name == respond_river.__name__ else seat
            wanted = river[player]
            real = np.flatnonzero(places[:some] >= 0)
            close(arguments[-1].copy_to_host()[0, real], wanted[0, real])
            arguments[-1].copy_to_device(wanted)
        else:
            whole(kernel, blocks, *arguments, **how)

    gpu.players, gpu.opponents = [players[seat]], [opponents[seat]]
    if is_simulated():
        deal.run = run
    try:
        gpu.iterate(*(np.array([each]) for each in deal_of), 1.0, 1.0)
    finally:
        deal.run, gpu.players, gpu.opponents = whole, players, opponents


def _without_other_rivers(gpu, some, *tables):
    """The slots of all streets but the river, and of its first roots."""
    kept = []
    for table in tables:
        parts = [gpu.slots(table, street).ravel() for street in range(RIVER)]
        rivers = to_rows(gpu.edges(RIVER), gpu.slots(table, RIVER))[:some]
        kept.append(np.concatenate([*parts, rivers.ravel()]))
    return kept


def public_chance_sampling_learns_as_on_the_cpu(folder):
    """In the simulator as above."""
    for deck, bets in [(NINE, 1)] if is_simulated() else [(NINE, 2), (TEN, 4), (Deck(3, 4), 3)]:
        here, there = both(deck, bets, PublicChanceCFR)
        begun = {name: table.copy() for name, table in here.tables().items()}
        board, work = here.board(1), here._work[0]
        cards, (one, two) = here._boards.cards(board), here._learners
        iterate_both(here._betting, cards, one, two, (1.0, 1.0), work)
        pairs, players = possible_pairs(deck.live, cards), there._gpu.players
        places = roots_on_cpu(here, players[0], RIVER)
        deal, whole = there._gpu.deal, there._gpu.deal.run

        def run(kernel, blocks, *arguments, known=(work, pairs, places, whole, players), **how):
            work, pairs, places, whole, players = known
            name = getattr(kernel, "__name__", "") or kernel.py_func.__name__
            if name != learn_river.__name__:
                return whole(kernel, blocks, *arguments, **how)
            whole(kernel, FIRST_ROOT, *arguments, **how)
            seat = next(player.seat for player in players if player.values[2] is arguments[-1])
            wanted = by_root(work.value[2][seat], pairs, places)
            close(arguments[-1].copy_to_host()[0, :FIRST_ROOT], wanted[0, :FIRST_ROOT])
            arguments[-1].copy_to_device(wanted)

        if is_simulated():
            deal.run = run
        there._gpu.iterate(np.array([board]), np.array([0]), 1.0, 1.0)
        deal.run, there._behind = whole, True
        for name in ("regrets", "average"):
            found, wanted = (each.tables()[name] - begun[name] for each in (there, here))
            for player in players:
                close(*_without_other_rivers(player, FIRST_ROOT if is_simulated() else None, found, wanted))


CFR_BR = {
    case.__name__: case
    for case in (
        rows_go_to_slots_and_back,
        boards_are_learned_as_on_the_cpu,
        public_chance_sampling_learns_as_on_the_cpu,
    )
}
