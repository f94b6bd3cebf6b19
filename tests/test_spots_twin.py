"""Passes over a spot equal a plain recursion over hands, cards and betting lines, for random tables."""

from __future__ import annotations

import numpy as np
import pytest
from slow_spot import AVERAGE, BEST, CURRENT, FLOOR, SlowSpot
from speed import slow
from spot_tables import TableReader, build_engine, fill_at_random, root_pairs

from openfelt.spots.lines import find_place, parse_line
from openfelt.spots.locks import Lock, apply_locks, lock_strategies
from openfelt.spots.spot import Spot
from openfelt.spots.traversal import BEST_RESPONSE, EXPECTED, UPDATE

RIVER_HANDS = {
    "oop": "AhAd,KsKd:0.4,QhQs,9h8h:0.7,Th7h,5c4c,JdJc:0.3",
    "ip": "AcAs:0.6,KhQh,KsKd,9d8d,TcTd:0.9,7s7c,5h4h:0.2,AhKc",
}
SPOTS = {
    # Ties, common hands and cards, three and four actions.
    "river": Spot(board="Td9s6h2c2s", pot=90, stack=400, bets="50%", raises="2.5x,a", **RIVER_HANDS),
    # A tree with more ends of lines than are computed side by side, and up to six actions.
    "many sizes": Spot(
        board="Td9s6h2c2s", pot=60, stack=900, bets="25%,50%,100%,200%,a", raises="2x,3x,a", **RIVER_HANDS
    ),
    "river with rake": Spot(
        board="Td9s6h2c2s", pot=90, stack=200, bets="33%,a", rake=0.05, rake_cap=11, **RIVER_HANDS
    ),
    "no bets of OOP": Spot(  # decisions with a check only
        board="Td9s6h2c2s", pot=90, stack=200, bets={"ip": "50%"}, raises="3x", **RIVER_HANDS
    ),
    "no bets": Spot(board="Td9s6h2c2s", pot=90, stack=200, bets="", raises="", **RIVER_HANDS),
    "no chips behind": Spot(board="Td9s6h2c2s", pot=90, stack=0, **RIVER_HANDS),
    # Several batches of river trees, all-ins on the turn, hands that a river card blocks.
    "turn with rake": Spot(
        oop="AhAd,9h8h:0.7,KsQs",
        ip="AhKc:0.5,TcTd,7s7c",
        board="Td9s6h2c",
        pot=50,
        stack=300,
        bets={"": "50%,a", "oop turn": "75%", "oop river": "", "ip river": "25%,50%,75%"},
        raises={"turn": "3x", "river": "a"},
        rake=0.04,
        rake_cap=8,
    ),
    "flop": Spot(oop="AhAd,9h8h:0.7", ip="AhKc:0.5,7s7c", board="Td9s6h", pot=50, stack=60, bets="50%"),
}
LOCKED = {"river": ("", "b45"), "turn with rake": ("x", "x a", "x x / x")}


@pytest.fixture(params=[slow(name) if name == "flop" else name for name in SPOTS])
def filled(request):
    """A spot, its engine with random tables, and the twin; some decisions are locked."""
    spot = SPOTS[request.param]
    engine = build_engine(spot)
    fill_at_random(engine, seed=7)
    lines = LOCKED.get(request.param, ())
    places = [find_place(spot, parse_line(line)) for line in lines]
    random = np.random.default_rng(3)
    for line, (street, place) in zip(lines, places, strict=True):
        count = len(spot.streets[street].places[place].actions)
        apply_locks(engine, lock_strategies(spot, [Lock(line, random.dirichlet(np.ones(count), 1326).T)]))
    return spot, engine, SlowSpot(spot, engine, places)


PRECISION = [(np.float32, 2e-6), slow(np.float64, 1e-12)]  # relative to the most that a hand can win or lose


def scale(spot):
    """A bound of the values of hands."""
    return (spot.pot + spot.stack) * spot.ranges.sum(axis=1).max()


@pytest.mark.parametrize(("kind", "precision"), PRECISION, ids=["single", "double"])
@pytest.mark.parametrize(("mode", "how"), [(EXPECTED, AVERAGE), (BEST_RESPONSE, BEST)])
def test_values_equal_those_of_the_twin(filled, mode, how, kind, precision):
    spot, engine, twin = filled
    for player in (0, 1):
        values = engine.passes(kind).run(player, mode)
        expected = twin.values(player, how)
        assert list(expected) == root_pairs(spot, player).tolist()
        np.testing.assert_allclose(values, list(expected.values()), atol=precision * scale(spot))


@pytest.mark.parametrize("kind", [np.float32, slow(np.float64)], ids=["single", "double"])
@pytest.mark.parametrize("player", [0, 1])
def test_an_update_is_one_of_discounted_cfr(filled, player, kind):
    spot, engine, twin = filled
    positive, negative, keep = 0.75, 0.5, 0.3
    expected = twin.values(player, CURRENT)
    before = {name: TableReader(engine, name) for name in ("regret", "average")}
    old = {where: (before["regret"].read(*where), before["average"].read(*where)) for where in twin.decisions}
    untouched = [[table.copy() for table in level.tables[1:3]] for level in engine.levels]

    values = engine.passes(kind).run(player, UPDATE, (positive, negative, keep))

    close = 2e-6 * scale(spot)
    np.testing.assert_allclose(values, list(expected.values()), atol=close)
    changed = [np.zeros(len(level.tables.regret), bool) for level in engine.levels]
    for where, (of_actions, strategy, own) in twin.decisions.items():
        regret, average = old[where]
        if where[:2] not in twin.locked:
            mean = strategy @ of_actions
            regret = np.where(regret > 0, positive, negative) * regret + (np.array(of_actions) - mean)
            average = keep * average + strategy * (own + FLOOR)
            changed[where[0]][before["regret"].entries(*where)] = True
        np.testing.assert_allclose(before["regret"].read(*where), regret, rtol=1e-6, atol=close)
        np.testing.assert_allclose(before["average"].read(*where), average, rtol=2e-6, atol=1e-12)
    for level, tables, mine in zip(engine.levels, untouched, changed, strict=True):
        for now, then in zip(level.tables[1:3], tables, strict=True):
            assert (now[~mine] == then[~mine]).all()  # nothing of the opponent's, and nothing locked
