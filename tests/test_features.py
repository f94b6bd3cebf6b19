"""Vectors of infosets and public states: one per infoset, as documented, the same for kernels and rules."""

from __future__ import annotations

import numpy as np
import pytest
from speed import slow

import openfelt as felt
from openfelt.cards.boards import PERMUTED_CARD
from openfelt.cards.deck import PAIR_CARDS, card_text, parse_cards
from openfelt.games.compile.betting_tree import PLAYER, betting_nodes
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.hand import Hand

GAMES = ["kuhn", "kuhn(players=3)", "leduc", "goofspiel(4)", "bluff(1,1,3)", "one_card(5)"]
GAMES += [slow("leduc(players=3)"), slow("princess_monster(3,3,5)"), slow("bluff(1,1,6)")]


def random_hands(game: str, count: int):
    """(hand, node of the tree) at decisions of random plays; the node is 0 in hold'em."""
    rules, generator = felt.load_game(game), np.random.default_rng(1)
    first = compile_game(rules).nodes.first_child if rules.is_enumerable else None
    for _ in range(count):
        hand, node = Hand(rules), 0
        while hand.mover != TERMINAL:
            if hand.mover != CHANCE:
                yield hand, node
            place = int(generator.integers(len(hand.actions)))
            hand.act(place)
            node = int(first[node]) + place if first is not None else 0


@pytest.mark.parametrize("game", GAMES)
def test_an_infoset_has_its_own_vector(game):
    layout, tree = felt.features(game), compile_game(game)
    table = layout.table()
    assert len(np.unique(table, axis=0)) == len(table) == tree.num_rows
    assert set(np.unique(table)) == {0.0, 1.0}
    assert table.any(axis=0).all()  # no column is unused
    for hand, node in random_hands(game, 50):
        row = int(tree.nodes.row[node])
        np.testing.assert_array_equal(layout.infoset(hand), table[row])
        np.testing.assert_array_equal(layout.mask(hand.actions), layout.masks()[row])
        np.testing.assert_array_equal(layout.public_state(hand), layout.public_table()[row])
        np.testing.assert_array_equal(layout.table(np.array([row])), table[[row]])


def test_columns_say_what_was_observed():
    layout = felt.features("leduc")
    vector = layout.table()[compile_game("leduc").find_row(0, "K check bet call Q")]
    names = [name for name, column in zip(layout.names, vector, strict=True) if column]
    assert names == ["player 0", "1: K", "2: check", "3: bet", "4: call", "5: Q"]
    public = layout.public_table()[compile_game("leduc").find_row(0, "K check bet call Q")]
    names = [name for name, column in zip(layout.public_names, public, strict=True) if column]
    assert names == ["player 0", "1: check", "2: bet", "3: call", "4: Q"]


def test_public_states_of_goofspiel_are_the_results():
    layout = felt.features("goofspiel(3)")
    assert layout.public_names[2:] == ("1: tied", "1: lost", "1: won")
    tree = compile_game("goofspiel(3)")
    mine, theirs = tree.find_row(0, "3 won"), tree.find_row(0, "2 won")
    np.testing.assert_array_equal(*layout.public_table(np.array([mine, theirs])))


def test_columns_of_holdem():
    layout = felt.features("holdem")
    vector = layout.encode(0, parse_cards("AhKh"), parse_cards("Qh7h2s"), ["raise", "call", "check", "bet"])
    names = [name for name, column in zip(layout.names, vector, strict=True) if column]
    assert names == [
        *("seat 0", "flop", "preflop action 1: raise", "preflop action 2: call"),
        *("flop action 1: call", "flop action 2: raise"),
        # hearts hold Q and 7 of the flop, then spades the 2: they become clubs and diamonds
        *("flop: 2d", "flop: 7c", "flop: Qc", "hole: Kc", "hole: Ac"),
    ]
    assert layout.public_names == layout.names[:-52]
    three = felt.features("holdem(players=3)")
    vector = three.encode(0, parse_cards("2c2d"), (), ["fold"])
    names = [name for name, column in zip(three.names, vector, strict=True) if column]
    assert names == ["seat 0", "preflop", "preflop action 1: fold", "hole: 2c", "hole: 2d"]


def test_suits_do_not_matter_and_ranks_do():
    """All permutations of suits give one vector; the number of different flops with hole cards is known."""
    layout, generator = felt.features("holdem"), np.random.default_rng(3)
    for _ in range(30):
        cards = generator.permutation(52)[:7]
        vectors = [
            layout.encode(1, seen[cards[:2]].tolist(), seen[cards[2:]].tolist(), []) for seen in PERMUTED_CARD
        ]
        assert len(np.unique(vectors, axis=0)) == 1
    preflop = {layout.encode(1, pair.tolist(), (), []).tobytes() for pair in PAIR_CARDS}
    assert len(preflop) == 169


@pytest.mark.parametrize("board", ["", "AcKdQh", "7h7d7s", "AsKsQsJs2d", "2c3d4h5s"])
def test_the_cards_of_all_hands_at_once(board):
    layout, cards = felt.features("holdem"), parse_cards(board)
    table = layout.card_table(cards)
    for number in range(0, 1326, 13):
        hole = PAIR_CARDS[number].tolist()
        if not set(hole) & set(cards):
            vector = layout.encode(0, hole, cards, [])
            np.testing.assert_array_equal(
                table[number], vector[layout.layout.cards :], err_msg=card_text(hole[0])
            )
    assert len(np.unique(table[:, :-52], axis=0)) == 1  # the board looks the same to everybody


def test_the_betting_of_all_nodes_at_once():
    layout = felt.features("holdem")
    betting, masks = layout.betting_table()
    node, _, _ = betting_nodes(2, 4)
    decisions = np.flatnonzero(node[:, PLAYER] >= 0)
    assert len(np.unique(betting[decisions], axis=0)) == len(decisions)
    for hand, _ in random_hands("holdem", 20):
        line = [step.action for step in hand.steps if step.mover != CHANCE]
        here = 0
        for word in line:
            legal = [name for name, legal in zip(layout.actions, masks[here], strict=True) if legal]
            here = int(node[here, 2]) + legal.index(layout.synonyms.get(word, word))
        np.testing.assert_array_equal(betting[here], layout.infoset(hand)[: layout.layout.cards])
        np.testing.assert_array_equal(masks[here], layout.mask(hand.actions))


@pytest.mark.parametrize("game", ["holdem", slow("holdem(players=3)")])
def test_a_public_state_begins_its_infosets(game):
    layout = felt.features(game)
    for hand, _ in random_hands(game, 5):
        np.testing.assert_array_equal(layout.public_state(hand), layout.infoset(hand)[: layout.public_size])
