"""Positions of a solved spot as JSON for the page: decisions, cards to be dealt, ends of lines, runouts."""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.cards.deck import STREETS, cards_text
from openfelt.core.jit import Floats
from openfelt.spots.betting import ON
from openfelt.spots.compare import Comparison, compare_solutions
from openfelt.spots.lines import find_place, parse_line
from openfelt.spots.node import NEVER, Node, hand_text
from openfelt.spots.solution import Solution
from openfelt.spots.spot import PLAYERS

DECIMALS = 4


def position_json(solution: Solution, line: str) -> dict[str, Any]:
    """The position after a line: a decision ("decision"), a card to be dealt ("card") or the end ("end")."""
    parsed = parse_line(line)
    street, place = find_place(solution.spot, parsed)
    here, streets = solution.spot.streets[street].places[place], solution.spot.streets
    if len(parsed.cards) < street:
        return {
            "kind": "card",
            "line": str(parsed),
            "board": cards_text([*solution.spot.cards, *parsed.cards]),
            "street": STREETS[solution.spot.street + street],
            "pot": solution.spot.pot + sum(here.paid),
        }
    node = solution.node(line)
    return {
        "kind": "end" if node.player is None else "decision",
        **node.as_dict(hands=False),
        # The card that is still dealt after an all-in.
        "street": streets[street + 1].name if here.kind == ON and street + 1 < len(streets) else None,
        "reached": node.is_reached,
        "locked": (street, place) in solution.locked,
        "hands": {name: _columns(node, number) for number, name in enumerate(PLAYERS)},
    }


def runouts_json(solution: Solution, line: str) -> dict[str, Any]:
    """For each card that can be dealt after a line: frequencies of the next decision, values and equities."""
    nodes = solution.runouts(line)
    return {
        "line": str(parse_line(line)),
        "actions": [{"code": action.code, "name": str(action)} for action in nodes[0].actions],
        "player": None if nodes[0].player is None else PLAYERS[nodes[0].player],
        "cards": [
            {
                "card": node.board[-2:],
                "frequencies": _numbers(node.frequencies),
                "values": _numbers(np.array(node.values)),
                "equities": _numbers(np.array(node.equities)),
            }
            for node in nodes
        ],
    }


def comparison_json(first: Solution, second: Solution, line: str) -> dict[str, Any]:
    """A decision of two solutions: frequencies and values in both, and the hands that differ most."""
    found = compare_solutions(first, second, line)
    rows = zip(found.first.actions, *(_numbers(row) for row in _both(found)), strict=True)
    return {
        "line": found.first.line,
        "actions": [
            {"code": action.code, "name": str(action), "frequencies": [one, two], "evs": [ev_one, ev_two]}
            for action, one, two, ev_one, ev_two in rows
        ],
        "values": [_numbers(np.array(node.values)) for node in found.nodes],
        "changed": _numbers(np.array([found.changed]))[0],
        "hands": [{"hand": hand, "changed": round(apart, DECIMALS)} for hand, apart in found.largest()],
    }


def _both(found: Comparison) -> list[Floats]:
    return [*(node.frequencies for node in found.nodes), *(node.action_values for node in found.nodes)]


def _columns(node: Node, player: int) -> dict[str, Any]:
    """The hands of a player's range, one list for each quantity."""
    pairs = np.flatnonzero(node.ranges[player] > NEVER)[::-1]
    acts = player == node.player
    return {
        "names": [hand_text(int(pair)) for pair in pairs],
        "weight": _numbers(node.ranges[player, pairs]),
        "ev": _numbers(node.ev[player, pairs]),
        "equity": _numbers(node.equity[player, pairs]),
        "realisation": _numbers(node.realisation[player, pairs]),
        "strategy": [_numbers(row) for row in node.strategy[:, pairs]] if acts else [],
        "action_ev": [_numbers(row) for row in node.action_ev[:, pairs]] if acts else [],
    }


def _numbers(values: Floats) -> list[float | None]:
    rounded = np.round(np.asarray(values, np.float64), DECIMALS).tolist()
    return [None if value != value else value for value in rounded]
