"""Hold'em: the rules beside open_spiel's, the betting tree beside the rules, the deals beside both."""

from __future__ import annotations

import itertools
import random
from functools import cache

import numpy as np
import pyspiel
import pytest
from speed import slow

import openfelt as felt
from openfelt.cards.abstraction.abstraction import load_abstraction
from openfelt.cards.deck import BOARD_CARDS, CARDS, card_text, parse_cards
from openfelt.core.jit import episode_kernel
from openfelt.core.random import ITERATION_DRAWS, go_to, starts, uniform
from openfelt.games.compile.betting_tree import PLACE, PLAYER, STAKES_SHIFT, betting_tree
from openfelt.games.compile.compiler import compile_any
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.holdem import (
    BET,
    BLINDS,
    Betting,
    Holdem,
    HoldemState,
    bet,
    betting_actions,
    first_betting,
    is_over,
    passive,
    players_in,
    stakes,
)
from openfelt.solve.traverse.episode import (
    begin,
    exploration,
    first_slot,
    follow,
    num_actions,
    num_players,
    passive as passive_action,
    payoff,
)
from openfelt.solve.traverse.holdem import DRAWN, DRAWS, OUT, SHOWN, HoldemTree, holdem_tree, new_deal

COMMON = (
    "universal_poker(betting=limit,numRounds=4,raiseSize=2 2 4 4,maxRaises=3 4 4 4,"
    "numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,"
)
OPEN_SPIEL = {
    2: COMMON + "numPlayers=2,blind=2 1,firstPlayer=2 1 1 1)",
    3: COMMON + "numPlayers=3,blind=1 2 0,firstPlayer=3 1 1 1)",
}
NUMBER = {"fold": 0, "call": 1, "check": 1, "bet": 2, "raise": 2}  # open_spiel's numbers of actions
FOLDING = 0.12  # share of folds where one can fold, so that half of the hands are shown


def choose(words, generator):
    """A random action that does not fold too often."""
    if words[0] == "fold":
        if generator.random() < FOLDING:
            return 0
        return 1 + int(generator.random() * (len(words) - 1))
    return int(generator.random() * len(words))


@cache
def after(betting):
    """The actions at a betting (none at the end), their numbers in open_spiel, and what follows."""
    words = [] if is_over(betting) else betting_actions(betting)
    return words, [NUMBER[word] for word in words], [bet(betting, word) for word in words]


def random_decks(players, hands, seed):
    """The cards that a hand may need, of many hands."""
    generator = np.random.default_rng(seed)
    for first in range(0, hands, 10_000):
        decks = generator.random((min(10_000, hands - first), CARDS)).argsort(axis=1)
        yield from decks[:, : 2 * players + 5].tolist()


def same_chips(ours, theirs):
    return all(abs(own - other) < 1e-9 for own, other in zip(ours, theirs, strict=True))


def lines_to_all(players):
    """For each action at each betting a line that ends with it, as places among the actions."""
    first = first_betting(players)
    way, bettings = {first: ()}, [first]
    for betting in bettings:  # more come while they are gone through
        for place, following in enumerate(after(betting)[2]):
            yield (*way[betting], place)
            if following not in way:
                way[following] = (*way[betting], place)
                bettings.append(following)


@pytest.mark.parametrize(("players", "each"), [(2, 20), slow(2, 100), slow(3, 4)])
def test_hands_go_as_in_open_spiel(players, each):
    """Whose turn it is, what can be done, and who wins what: through each action at each betting, then on."""
    game, theirs = Holdem(players), pyspiel.load_game(OPEN_SPIEL[players])
    generator, shown, ties = random.Random(players), 0, 0
    lines = list(lines_to_all(players)) * each
    hands = len(lines)
    for line, deck in zip(lines, random_decks(players, hands, players), strict=True):
        betting, other, dealt, coming = first_betting(players), theirs.new_initial_state(), 0, iter(line)
        while True:
            words, numbers, bettings = after(betting)
            if not words:
                break
            for card in deck[dealt : 2 * players + BOARD_CARDS[betting.street]]:
                other.apply_action(card)
                dealt += 1
            assert other.current_player() == betting.turn
            assert other.legal_actions() == numbers
            place = next(coming, None)
            if place is None:
                place = choose(words, generator)
            other.apply_action(numbers[place])
            betting = bettings[place]
        assert other.is_terminal()
        won = game.payoffs(HoldemState(tuple(deck[:dealt]), betting))
        assert same_chips(won, other.returns())
        shown += betting.street > 3
        ties += sum(chips > -paid for chips, paid in zip(won, betting.paid, strict=True)) > 1
    assert hands / 4 < shown < hands
    assert ties > hands / 200


@pytest.mark.parametrize("players", [2, 3])
def test_the_game_step_by_step_goes_as_in_open_spiel(players):
    """Card by card, through what every game offers."""
    game, theirs = Holdem(players), pyspiel.load_game(OPEN_SPIEL[players])
    generator = random.Random(players)
    for _ in range(300):
        state, other = game.start(), theirs.new_initial_state()
        while (mover := game.turn(state)) != TERMINAL:
            words = list(game.actions(state))
            if mover == CHANCE:
                assert other.is_chance_node()
                numbers = [parse_cards(word)[0] for word in words]
                assert sum(game.chance(state)) == pytest.approx(1)
                place = generator.randrange(len(words))
            else:
                assert other.current_player() == mover
                numbers = [NUMBER[word] for word in words]
                place = choose(words, generator)
            assert sorted(other.legal_actions()) == numbers
            state = game.play(state, words[place])
            other.apply_action(numbers[place])
        assert other.is_terminal()
        assert same_chips(game.payoffs(state), other.returns())


def play(game, cards, actions):
    """The state after these cards, as they are needed, and these actions."""
    state, coming = game.start(), iter(parse_cards(cards))
    for action in actions:
        while game.turn(state) == CHANCE:
            state = game.play(state, card_text(next(coming)))
        state = game.play(state, action)
    while game.turn(state) == CHANCE:
        state = game.play(state, card_text(next(coming)))
    return state


ALL_CALL = ["call", "check", *["check"] * 6]


@pytest.mark.parametrize(
    ("cards", "actions", "payoffs"),
    [
        ("AhAdKhKd2c3c4s9s8d", ["fold"], [1, -1]),
        ("AhAdKhKd2c3c4s9s8d", ["call", "raise", "fold"], [2, -2]),
        ("AhAdKhKd2c3c4s9s8d", ALL_CALL, [2, -2]),
        ("KhKdAhAd2c3c4s9s8d", ALL_CALL, [-2, 2]),
        ("2h3h2d3dAsKsQsJsTs", ALL_CALL, [0, 0]),
        ("AhAdKhKd2c3c4s9s8d", ["raise", "call", "bet", "fold"], [4, -4]),
        (
            "AhAdKhKd2c3c4s9s8d",
            (["raise"] * 3 + ["call"] + (["bet"] + ["raise"] * 3 + ["call"]) * 3),
            [48, -48],
        ),
    ],
)
def test_hands_of_two_by_heart(cards, actions, payoffs):
    game = Holdem(2)
    state = play(game, cards, actions)
    assert game.turn(state) == TERMINAL
    assert game.payoffs(state) == payoffs


@pytest.mark.parametrize(
    ("cards", "actions", "payoffs"),
    [
        ("AhAdKhKdQhQd2c3c4s9s8d", ["fold", "fold"], [-1, 1, 0]),
        ("AhAdKhKdQhQd2c3c4s9s8d", ["call", "call", "check", *["check"] * 9], [4, -2, -2]),
        ("2h3h2d3d4h4dAsKsQsJsTs", ["call", "call", "check", *["check"] * 9], [0, 0, 0]),
        ("2h3h2d3d4h4dAsKsQsJsTs", ["call", "fold", "check", *["check"] * 6], [-1, 0.5, 0.5]),
        ("2h3hAdAcAh4d5sKsQsJs9d", ["raise", "call", "call", *["check"] * 9], [-4, 8, -4]),
        ("2h3hAdKcAhKd5s6sQsJs9d", ["raise", "call", "call", *["check"] * 9], [-4, 2, 2]),
    ],
)
def test_hands_of_three_by_heart(cards, actions, payoffs):
    game = Holdem(3)
    state = play(game, cards, actions)
    assert game.turn(state) == TERMINAL
    assert game.payoffs(state) == payoffs


def test_seats_and_blinds():
    """Heads-up the dealer posts the small blind, acts first before the flop and last after it."""
    two, three = first_betting(2), first_betting(3)
    assert two == Betting(0, (2, 1), (False, False), bets=1, waiting=2, turn=1)
    assert three == Betting(0, (1, 2, 0), (False, False, False), bets=1, waiting=3, turn=2)
    assert bet(bet(two, "call"), "check").turn == 0
    flop = bet(bet(bet(three, "call"), "fold"), "check")
    assert (flop.street, flop.turn) == (1, 1)  # the first seat still in


def test_the_big_blind_may_raise_a_call():
    called = bet(first_betting(2), "call")
    assert betting_actions(called) == ["check", "raise"]
    assert passive(called) == "check"
    assert betting_actions(bet(called, "check")) == ["check", "bet"]
    capped = bet(bet(bet(first_betting(2), "raise"), "raise"), "raise")
    assert betting_actions(capped) == ["fold", "call"]
    assert passive(capped) == "call"


@pytest.mark.parametrize("players", [2, 3])
def test_others_do_not_see_hole_cards(players):
    game, generator = Holdem(players), random.Random(players)
    for _ in range(100):
        state, knows = game.start(), [[] for _ in range(players)]
        public = []
        while (mover := game.turn(state)) != TERMINAL:
            words = game.actions(state)
            word = generator.choice(words) if mover == CHANCE else words[choose(words, generator)]
            hole = len(state.cards) < 2 * players
            for player in range(players):
                if seen := game.sees(state, word, player):
                    knows[player].append(seen)
            if not hole:
                public.append(word)
            state = game.play(state, word)
        for player in range(players):
            own = [card_text(card) for card in game.hole(state, player)]
            assert knows[player] == own + public
        assert state.cards == tuple(itertools.chain(*(game.hole(state, seat) for seat in range(players)))) + (
            game.board(state)
        )


@pytest.mark.parametrize("players", [2, 3])
def test_payoffs_sum_to_zero_and_none_loses_more_than_he_paid(players):
    game, generator = Holdem(players), random.Random(players)
    for deck in random_decks(players, 3_000, players):
        betting = first_betting(players)
        while after(betting)[0]:
            betting = after(betting)[2][choose(after(betting)[0], generator)]
        payoffs = game.payoffs(HoldemState(tuple(deck), betting))
        assert abs(sum(payoffs)) < 1e-9
        for seat, won in enumerate(payoffs):
            assert won >= -betting.paid[seat]
            assert won == -betting.paid[seat] or seat in players_in(betting)


def test_stakes_are_the_pot_of_the_street_and_what_may_be_added():
    for players in (2, 3):
        generator = random.Random(players)
        for _ in range(3_000):
            betting, street = first_betting(players), -1
            while after(betting)[0]:
                if betting.street > street:
                    street = betting.street
                    pot, inside = sum(betting.paid), len(players_in(betting))
                    most = inside * 4 * sum(BET[street:]) - (sum(BLINDS[players]) if street == 0 else 0)
                assert stakes(betting) == (pot, most)
                assert Holdem(players).stakes(HoldemState((), betting)) == (pot, most)
                betting = after(betting)[2][choose(after(betting)[0], generator)]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("holdem(players=4)", "holdem: players must be 2 or 3, not 4"),
        ("holdem(players=1)", "holdem: players must be 2 or 3, not 1"),
        ("holdem(players='two')", "holdem: players must be a whole number, not 'two'"),
        ("holdem(buckets=5)", "holdem: buckets must be a text in quotes, not 5"),
        ("holdem(buckets='foo')", "'foo' is not the name of an abstraction; write it like ehs2:169"),
        ("holdem(buckets='ehs2:0')", "'ehs2:0': the preflop must have from 1 to 60000 buckets, not 0"),
        ("holdem(buckets='emd:5')", "There is no kind of abstraction 'emd'"),
        ("holdem(buckets=ehs)", "cannot be read"),
        ("holdem(2,'ehs:5',3,1)", "holdem takes at most 3 parameters, not 4"),
        ("holdem(blinds=3)", "holdem has no parameter 'blinds'"),
    ],
)
def test_bad_names(name, says):
    with pytest.raises(felt.GameError, match=says):
        felt.load_game(name)


def test_names():
    assert felt.load_game("holdem").name == "holdem"
    assert felt.load_game("holdem(3)").name == "holdem(players=3)"
    assert felt.load_game("holdem(buckets='ehs:10/10/10/10')").name == "holdem(buckets='ehs:10')"
    assert felt.load_game("holdem(buckets=' ehs2:169/100/100/100')").name == "holdem"
    game = felt.load_game("holdem(players=3,buckets='ehs:2')")
    assert felt.load_game(game.name) == game


def test_what_walks_all_histories_refuses_holdem():
    for refused in (felt.compile_game, felt.check_game, felt.CFR):
        with pytest.raises(felt.GameError, match="too many"):
            refused("holdem")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "decisions", "rows"),
    [
        ("holdem", [8, 70, 630, 5_670], 638_352),
        ("holdem(buckets='ehs2:169/1000/500/200')", [8, 70, 630, 5_670], 1_520_352),
        (
            "holdem(players=3,buckets='ehs2:169/1000/100/10')",
            [90, 4_412, 205_962, 9_501_342],
            120_036_830,
        ),
    ],
)
def test_sizes_of_betting_trees(name, decisions, rows):
    tree = compile_any(name)
    assert tree.decisions() == decisions
    assert tree.num_rows == rows
    assert tree.layout.nodes.sum(axis=1).tolist() == decisions
    assert tree.node_actions.sum() == tree.num_edges
    assert len(tree.node_actions) == sum(decisions)
    assert tree.payoff_range == (-48.0, 48.0 * (tree.players - 1))


def compare(tree, node, betting):
    """One node of the tree with the rules; the children of both."""
    player, kind, _, place = tree.node[node].tolist()
    words, _, bettings = after(betting)
    if not words:
        assert player == TERMINAL
        inside = tree.leaves.inside[place]
        assert [seat for seat in range(tree.players) if inside >> seat & 1] == players_in(betting)
        assert tuple(tree.leaves.paid[place]) == betting.paid
        return []
    assert player == betting.turn
    assert list(tree.actions(node)) == words
    assert tree.street(node) == betting.street
    assert tuple(tree.stakes[kind >> STAKES_SHIFT]) == stakes(betting)
    return [(tree.child(node, action), state) for action, state in enumerate(bettings)]


def test_every_node_of_two_players_is_as_the_rules_say():
    tree = compile_any("holdem(buckets='ehs:10')")
    met, places = [], {}
    stack = [(0, first_betting(2))]
    while stack:
        node, betting = stack.pop()
        met.append(node)
        if tree.node[node, PLAYER] >= 0:
            places[node] = int(tree.node[node, PLACE])
        stack += compare(tree, node, betting)
    assert sorted(met) == list(range(tree.num_nodes))
    spots = [spot + way for node, spot in places.items() for way in range(len(tree.actions(node)))]
    assert sorted(spots) == list(range(tree.num_edges))


@pytest.mark.slow
def test_paths_of_three_players_are_as_the_rules_say():
    tree, generator = compile_any("holdem(players=3,buckets='ehs:10')"), random.Random(5)
    children = {}  # of nodes that were compared
    for _ in range(20_000):
        node, betting = 0, first_betting(3)
        while True:
            if node not in children:
                children[node] = compare(tree, node, betting)
            if not children[node]:
                break
            node, betting = children[node][choose(after(betting)[0], generator)]
    assert len(children) > 50_000


def test_nodes_are_found_by_their_actions():
    tree = compile_any("holdem(buckets='ehs:10')")
    assert tree.find_node([]) == 0
    option = tree.find_node(["call"])
    assert tree.actions(option) == ("check", "raise")
    assert tree.find_node(["call", "raise"]) == tree.child(option, 1)
    river = tree.find_node(ALL_CALL[:-2])
    assert (tree.street(river), tree.actions(river)) == (3, ("check", "bet"))
    assert tree.node[tree.find_node(ALL_CALL), PLAYER] == TERMINAL


def test_slots_cover_the_table_once():
    tree = compile_any("holdem(buckets='ehs:10')")
    covered, rows = np.zeros(tree.num_slots, np.int64), 0
    for node in np.flatnonzero(tree.node[:, PLAYER] >= 0).tolist():
        for bucket in range(tree.abstraction.counts[tree.street(node)]):
            slots = tree.slots(node, bucket)
            assert slots.stop - slots.start == len(tree.actions(node))
            covered[slots] += 1
            rows += 1
    assert (covered == 1).all()
    assert rows == tree.num_rows


@pytest.mark.slow
def test_trees_are_known_by_betting_and_buckets():
    names = ("holdem(buckets='ehs:10')", "holdem(buckets='ehs:11')", "holdem(3,'ehs:10')")
    prints = [compile_any(name).fingerprint for name in names]
    assert len(set(prints)) == 3
    again = betting_tree(Holdem(2, "ehs:10"), load_abstraction("ehs:10"))
    assert again.fingerprint == prints[0]


@episode_kernel
def random_episode(tree, deal, stream, start, draws, nodes, slots, ways, passives, won):
    """Play at random without folding much; returns how many decisions there were."""
    go_to(stream, start, draws)
    node, length = begin(tree, deal, stream), 0
    while tree.node[node, PLAYER] >= 0:
        nodes[length], slots[length] = node, first_slot(tree, deal, node)
        ways[length], passives[length] = num_actions(tree, node), passive_action(tree, node, passives)
        action = int(uniform(stream) * ways[length])
        if action == 0 and passives[length] == 1 and uniform(stream) > 0.2:
            action = 1
        node = follow(tree, deal, node, action, stream)
        length += 1
    nodes[length] = node
    for player in range(num_players(tree)):
        won[player] = payoff(tree, deal, node, player)
    return length


@episode_kernel
def payoffs_of_leaf(tree, deal, leaf, won):
    for player in range(num_players(tree)):
        won[player] = payoff(tree, deal, leaf, player)


@episode_kernel
def exploration_of(tree, node, c):
    return exploration(tree, node, c)


class Episodes:
    """Random episodes of a tree, seen from outside."""

    def __init__(self, players: int) -> None:
        self.game = Holdem(players, "ehs:10")
        self.tree = betting_tree(self.game, load_abstraction("ehs:10"))
        self.fast: HoldemTree = holdem_tree(self.tree)
        self.deal, self.stream, self.count = new_deal(players), starts(players, 1), 0
        self.start = self.stream[0]
        self.nodes, self.slots = np.zeros(128, np.int64), np.zeros(128, np.int64)
        self.ways, self.passives, self.won = np.zeros(128, np.int8), np.zeros(128, np.int8), np.zeros(players)

    def play(self) -> int:
        """Play one, with the numbers of an iteration of a learner; how many decisions it had."""
        self.count += 1
        draws = self.count * ITERATION_DRAWS
        tables = self.nodes, self.slots, self.ways, self.passives, self.won
        return random_episode(self.fast, self.deal, self.stream, self.start, draws, *tables)

    def next(self):
        """The nodes of an episode, the last one a leaf, and the bettings at them."""
        length = self.play()
        nodes, bettings = self.nodes[: length + 1].tolist(), [first_betting(self.game.players)]
        for here, below in itertools.pairwise(nodes):
            action = below - self.tree.child(here, 0)
            bettings.append(after(bettings[-1])[2][action])
        return nodes, bettings

    def state(self, betting):
        """What was dealt, as a state of the rules."""
        return HoldemState(tuple(self.deal.cards[: self.deal.at[DRAWN]].tolist()), betting)


@pytest.fixture(params=[2, slow(3)])
def episodes(request, strengths):
    return Episodes(request.param)


def test_an_episode_deals_hands_to_their_buckets(episodes):
    game, tree = episodes.game, episodes.tree
    bucket, streets = cache(tree.abstraction.bucket), set()
    for _ in range(150):
        nodes, bettings = episodes.next()
        state = episodes.state(bettings[-1])
        last = min(bettings[-2].street, 3)
        assert len(state.cards) == 2 * game.players + BOARD_CARDS[last]
        assert len(set(state.cards)) == len(state.cards) <= episodes.deal.at[DRAWS]
        assert set(state.cards) <= set(range(CARDS))
        assert episodes.deal.at[OUT] == sum(1 << card for card in state.cards)
        for place, (node, betting) in enumerate(zip(nodes[:-1], bettings, strict=False)):
            board = game.board(state)[: BOARD_CARDS[betting.street]]
            slots = tree.slots(node, bucket(game.hole(state, betting.turn), board))
            words = betting_actions(betting)
            assert episodes.slots[place] == slots.start
            assert episodes.ways[place] == len(words) == slots.stop - slots.start
            assert words[episodes.passives[place]] == passive(betting)
            streets.add(betting.street)
    assert streets == {0, 1, 2, 3}


def test_an_episode_pays_what_the_rules_pay(episodes):
    endings = set()
    for _ in range(5_000):
        _, bettings = episodes.next()
        paid = episodes.game.payoffs(episodes.state(bettings[-1]))
        assert same_chips(episodes.won, paid)
        lost = [won == -chips for won, chips in zip(paid, bettings[-1].paid, strict=True)]
        endings.add((len(players_in(bettings[-1])), lost.count(False)))
    players = episodes.game.players
    most = {(inside, winners) for inside in range(1, players + 1) for winners in range(1, min(inside, 2) + 1)}
    assert endings >= most


def test_a_pot_is_split_as_the_rules_split_it(episodes):
    """Decks with many ties, and all endings."""
    game, tree, players = episodes.game, episodes.tree, episodes.game.players
    generator = np.random.default_rng(players)
    leaves, splits = np.flatnonzero(tree.node[:, PLAYER] == TERMINAL), set()
    _, first = np.unique(tree.node[leaves, PLACE], return_index=True)
    boards = ["AhKhQhJhTh", "AhAdAcAsKh", "2h2d3c3sAh", "9h8d7c6s5h"]
    for leaf, text in itertools.product(leaves[first].tolist(), boards):
        board = parse_cards(text)
        rest = [card for card in range(CARDS) if card not in board]
        hole = generator.permutation(rest)[: 2 * players].tolist()
        deal = new_deal(players)
        deal.cards[:] = [*hole, *board]
        deal.at[SHOWN] = 0
        payoffs_of_leaf(episodes.fast, deal, leaf, episodes.won)
        inside, paid = tree.leaves.inside[tree.node[leaf, PLACE]], tree.leaves.paid[tree.node[leaf, PLACE]]
        folded = tuple(not inside >> seat & 1 for seat in range(players))
        betting = Betting(4, tuple(map(int, paid)), folded, bets=0, waiting=0, turn=0)
        assert same_chips(episodes.won, game.payoffs(HoldemState((*hole, *board), betting)))
        assert deal.at[SHOWN] == (len(players_in(betting)) > 1)
        winners = sum(won > -chips for won, chips in zip(episodes.won, paid, strict=True))
        splits.add((folded.count(False), winners))
    assert splits >= {
        (inside, winners) for inside in range(1, players + 1) for winners in range(1, inside + 1)
    }


def test_all_cards_are_dealt_alike(episodes):
    """Chi squared of the first card, the last hole card and the first of the flop; 51 degrees of freedom."""
    players = episodes.game.players
    counts = np.zeros((3, CARDS))
    for _ in range(20_000):
        episodes.play()
        dealt = episodes.deal.cards
        for place, card in enumerate((0, 2 * players - 1, 2 * players)):
            if card < episodes.deal.at[DRAWN]:
                counts[place, dealt[card]] += 1
    expected = counts.mean(axis=1, keepdims=True)
    assert (((counts - expected) ** 2 / expected).sum(axis=1) < 100).all()


def test_exploration_is_that_of_the_stakes(episodes):
    pots, potentials = episodes.tree.pots()
    nodes, bettings = episodes.next()
    for node, betting in zip(nodes[:-1], bettings, strict=False):
        assert exploration_of(episodes.fast, node, pots + potentials) == sum(stakes(betting))
        assert exploration_of(episodes.fast, node, np.array([7.0])) == 7.0
