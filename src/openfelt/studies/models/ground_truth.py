"""Leduc hold'em players with given policies: their hands, and how far a model is from them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.leduc import Leduc
from openfelt.opponents.models.domain import UNKNOWN, LeducDomain
from openfelt.opponents.models.model import OpponentModel
from openfelt.opponents.models.observed import KNOWN, ObservedHand, ending
from openfelt.policy.tabular import TabularPolicy, random_policy, require_tabular
from openfelt.solve.sampling.smooth_uct import SmoothUCT

GAME = "leduc"
EPISODES = 1_000_000  # of Smooth UCT
TRAINED, RANDOM = PLAYERS = ("Smooth UCT", "a random policy")


@cache
def true_policy(player: str) -> TabularPolicy:
    """The policy of one of PLAYERS."""
    if player == RANDOM:
        return random_policy(GAME, seed=1)
    solver = SmoothUCT(GAME, c=18, seed=1)  # MM19's constant
    solver.run(EPISODES)
    return require_tabular(solver.policy)


class TerminalHistory(NamedTuple):
    """A history to the end of the game."""

    probability: float
    dealt: tuple[int, ...]
    line: tuple[int, ...]  # the players' actions
    infosets: tuple[int, ...]  # of these actions


@cache
def terminal_histories(player: str) -> list[TerminalHistory]:
    """All histories of positive probability when the policy plays against itself."""
    policy, domain = true_policy(player), _domain()
    nodes, game, found = compile_game(GAME).nodes, domain.game, list[TerminalHistory]()
    todo: list[tuple[int, Any, TerminalHistory]] = [(0, game.start(), TerminalHistory(1.0, (), (), ()))]
    while todo:
        node, state, history = todo.pop()
        mover = game.turn(state)
        if mover == TERMINAL:
            found.append(history)
            continue
        infoset, is_chance = int(nodes.row[node]), mover == CHANCE
        probabilities = game.chance(state) if is_chance else policy.row(infoset)
        for action, (name, probability) in enumerate(zip(game.actions(state), probabilities, strict=True)):
            after = history._replace(probability=history.probability * float(probability))
            if is_chance:
                after = after._replace(dealt=(*history.dealt, domain.deck.index(name)))
            else:
                line, infosets = (*history.line, action), (*history.infosets, infoset)
                after = after._replace(line=line, infosets=infosets)
            if after.probability > 0:
                todo.append((int(nodes.first_child[node]) + action, game.play(state, name), after))
    return found


@cache
def _domain() -> LeducDomain:
    return LeducDomain(Leduc())


def sample_hands(player: str, cards: str, count: int, generator: np.random.Generator) -> list[ObservedHand]:
    """Hands of the player in self-play, observed in both seats by turns."""
    histories = terminal_histories(player)
    weights = np.array([history.probability for history in histories])
    drawn = generator.choice(len(histories), count, p=weights / weights.sum())
    hands = []
    for number, place in enumerate(drawn):
        history, seat = histories[place], number % 2
        is_visible = cards == KNOWN or ending(_domain().public, history.line, seat).showdown
        holding = history.dealt[seat] if is_visible else UNKNOWN
        board, opponent_card = history.dealt[2:], history.dealt[1 - seat]
        hands.append(ObservedHand(seat, history.line, board, holding, (opponent_card,)))
    return hands


@cache
def card_posteriors(player: str) -> list[tuple[ObservedHand, float, Floats]]:
    """Each observable hand, its probability, and the distribution of the player's card."""
    weights: dict[ObservedHand, Floats] = {}
    for history in terminal_histories(player):
        for seat in (0, 1):
            hand = ObservedHand(seat, history.line, history.dealt[2:], UNKNOWN, (history.dealt[1 - seat],))
            cards = weights.setdefault(hand, np.zeros(_domain().holdings))
            cards[history.dealt[seat]] += history.probability
    total = sum(float(cards.sum()) for cards in weights.values())
    return [(hand, float(cards.sum()) / total, cards / cards.sum()) for hand, cards in weights.items()]


def action_distance(model: OpponentModel, player: str) -> float:
    """Mean total variation distance of action probabilities, weighted by the player's decisions."""
    truth, guess = true_policy(player), model.policy()
    reach = np.zeros(truth.tree.num_rows)
    for history in terminal_histories(player):
        for infoset in history.infosets:
            reach[infoset] += history.probability
    distances = [abs(truth.row(row) - guess.row(row)).sum() / 2 for row in range(len(reach))]
    return float(reach @ np.array(distances) / reach.sum())


def card_distance(model: OpponentModel, player: str) -> float:
    """Mean total variation distance of the player's card distribution at the end of a hand."""
    return sum(
        probability * float(abs(model.cards(hand) - cards).sum()) / 2
        for hand, probability, cards in card_posteriors(player)
    )
