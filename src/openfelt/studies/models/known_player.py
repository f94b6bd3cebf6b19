"""A player of Leduc hold'em whose policy is known: his hands, his cards, and how far a model is from him."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.opponents.models.domain import UNKNOWN, OneCardDomain, model_domain
from openfelt.opponents.models.model import OpponentModel
from openfelt.opponents.models.observed import KNOWN, ObservedHand, ending
from openfelt.policy.tabular import TabularPolicy, random_policy
from openfelt.solve.sampling.smooth_uct import SmoothUCT

GAME = "leduc"
EPISODES = 1_000_000  # of Smooth UCT
PLAYERS = ("Smooth UCT", "a random policy")


@cache
def policy_of(player: str) -> TabularPolicy:
    """The truth."""
    if player == PLAYERS[1]:
        return random_policy(GAME, seed=1)
    solver = SmoothUCT(GAME, c=18, seed=1)  # MM19's constant
    solver.run(EPISODES)
    assert isinstance(solver.policy, TabularPolicy)
    return solver.policy


class History(NamedTuple):
    """A way to the end of the game, and its chance."""

    chance: float
    dealt: tuple[int, ...]
    line: tuple[int, ...]
    rows: tuple[tuple[int, int], ...]  # the decisions: whose, and the row


@cache
def histories(player: str) -> list[History]:
    """All that can come when the policy plays itself."""
    policy, domain = policy_of(player), _ground()
    nodes, game, found = compile_game(GAME).nodes, domain.game, list[History]()
    todo: list[tuple[int, Any, History]] = [(0, game.start(), History(1.0, (), (), ()))]
    while todo:
        node, state, here = todo.pop()
        mover = game.turn(state)
        if mover == TERMINAL:
            found.append(here)
            continue
        row, dealing = int(nodes.row[node]), mover == CHANCE
        chances = game.chance(state) if dealing else policy.row(row)
        for way, (word, chance) in enumerate(zip(game.actions(state), chances, strict=True)):
            after = here._replace(chance=here.chance * float(chance))
            if dealing:
                after = after._replace(dealt=(*here.dealt, domain.deck.index(word)))
            else:
                after = after._replace(line=(*here.line, way), rows=(*here.rows, (mover, row)))
            if after.chance > 0:
                todo.append((int(nodes.first_child[node]) + way, game.play(state, word), after))
    return found


def _ground() -> OneCardDomain:
    domain = model_domain(GAME)
    assert isinstance(domain, OneCardDomain)
    return domain


def hands_of(player: str, cards: str, count: int, generator: np.random.Generator) -> list[ObservedHand]:
    """Hands of the player against himself; he is watched in both seats by turns."""
    ways = histories(player)
    chances = np.array([way.chance for way in ways])
    drawn = generator.choice(len(ways), count, p=chances / chances.sum())
    found = []
    for number, place in enumerate(drawn):
        way, seat = ways[place], number % 2
        shown = cards == KNOWN or ending(_ground().public, way.line, seat).showdown
        board, other = way.dealt[2:], way.dealt[1 - seat]
        found.append(ObservedHand(seat, way.line, board, way.dealt[seat] if shown else UNKNOWN, (other,)))
    return found


@cache
def posteriors(player: str) -> list[tuple[ObservedHand, float, Floats]]:
    """Each hand that can be seen, how likely it is, and what the player may hold then: from all deals."""
    found: dict[ObservedHand, Floats] = {}
    for way in histories(player):
        for seat in (0, 1):
            key = ObservedHand(seat, way.line, way.dealt[2:], UNKNOWN, (way.dealt[1 - seat],))
            found.setdefault(key, np.zeros(_ground().holdings))[way.dealt[seat]] += way.chance
    total = sum(float(likely.sum()) for likely in found.values())
    return [(hand, float(likely.sum()) / total, likely / likely.sum()) for hand, likely in found.items()]


def action_distance(model: OpponentModel, player: str) -> float:
    """Total variation at a decision, in the mean over those that the player comes to."""
    truth, guess = policy_of(player), model.policy()
    reach = np.zeros(truth.tree.num_rows)
    for way in histories(player):
        for _, row in way.rows:
            reach[row] += way.chance
    apart = [abs(truth.row(row) - guess.row(row)).sum() / 2 for row in range(len(reach))]
    return float(reach @ np.array(apart) / reach.sum())


def card_distance(model: OpponentModel, player: str) -> float:
    """Total variation of what he may hold at the end, in the mean over hands."""
    return sum(
        chance * float(abs(model.cards(hand) - likely).sum()) / 2
        for hand, chance, likely in posteriors(player)
    )
