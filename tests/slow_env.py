"""The slow twin of VectorEnv: each of its games as a hand of the rules, and the vectors made of that."""

from __future__ import annotations

import numpy as np

import openfelt as felt
from openfelt.games.compile.betting_tree import CHILD, KIND, PLAYER, betting_nodes, betting_words
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import CHANCE
from openfelt.games.hand import Hand


class SlowEnv:
    """Says which hands an environment is playing, from its nodes and cards alone."""

    def __init__(self, env: felt.VectorEnv) -> None:
        self.env, game = env, env.game
        if game.is_enumerable:
            nodes = compile_game(game).nodes
            self.first, self.count = nodes.first_child, nodes.num_children
        else:
            node, _, _ = betting_nodes(game.players, game.bets)
            self.node, self.first = node, node[:, CHILD]
            self.count = np.where(node[:, PLAYER] >= 0, node[:, KIND] & 3, 0)

    def path(self, here: int) -> list[int]:
        """Places of the actions that lead to a node."""
        places = []
        while here:
            parents = np.flatnonzero((self.first <= here) & (here < self.first + self.count))
            (parent,) = parents[self.count[parents] > 0]
            places.append(int(here - self.first[parent]))
            here = int(parent)
        return places[::-1]

    def hand(self, game: int) -> Hand:
        """The hand that a game is at."""
        rules, hand = self.env.game, Hand(self.env.game)
        places = self.path(int(self.env._games.node[game]))
        if rules.is_enumerable:
            for place in places:
                hand.act(place)
            return hand
        cards, here = [felt_card(card) for card in self.env._games.cards[game]], 0
        for place in [*places, None]:
            while hand.mover == CHANCE:
                hand.act(hand.actions.index(cards[len(hand.state.cards)]))
            if place is not None:
                word = betting_words(int(self.node[here, KIND]))[place]
                hand.act(hand.actions.index(word))
                here = int(self.first[here]) + place
        return hand

    def compare(self) -> list[Hand]:
        """All hands; raises where the environment shows anything else."""
        env, hands = self.env, [self.hand(game) for game in range(self.env.count)]
        for game, hand in enumerate(hands):
            assert env.players[game] == hand.mover
            np.testing.assert_array_equal(env.features[game], env.layout.infoset(hand))
            np.testing.assert_array_equal(env.masks[game], env.layout.mask(hand.actions))
        return hands

    def act(self, hand: Hand, number: int) -> None:
        """Take an action by its number in the layout."""
        legal = [self.env.layout.number(word) for word in hand.actions]
        hand.act(legal.index(number))


def felt_card(card: int) -> str:
    """The name of a card."""
    return "23456789TJQKA"[card // 4] + "cdhs"[card % 4]
