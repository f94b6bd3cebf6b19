"""Our policies as dictionaries, for the twins and for open_spiel."""

from __future__ import annotations

import numpy as np
import pyspiel
from slow_twin import SlowGame

from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.registry import load_game
from openfelt.policy.tabular import TabularPolicy


def as_profile(policy: TabularPolicy) -> dict:
    """{(player, everything seen): probabilities}, as the twins want it."""
    tree = policy.tree
    profile = {}
    for history, node in walk(tree.game):
        player = int(tree.nodes.player[node])
        if player >= 0:
            profile[player, history[1][player]] = [float(p) for p in policy.row(int(tree.nodes.row[node]))]
    return profile


def walk(name: str):
    """(history of the slow game, node of the tree) of all histories, depth first."""
    slow, tree = SlowGame(load_game(name)), compile_game(name)
    stack = [(slow.root, 0)]
    while stack:
        history, node = stack.pop()
        yield history, node
        if slow.mover(history) != TERMINAL:
            for place, child in enumerate(slow.children(history)):
                stack.append((child, int(tree.nodes.first_child[node]) + place))


class OpenSpielTwin:
    """One of our games beside open_spiel's: walks both together, and says where they differ.

    `rows` maps our rows to the information-state strings of open_spiel (several where suits differ), and
    `order` our slots to its actions.
    """

    def __init__(self, ours: str, theirs: pyspiel.Game) -> None:
        self.game, self.tree, self.theirs = load_game(ours), compile_game(ours), theirs
        self.rows: dict[int, set[str]] = {}
        self.order: dict[int, list[int]] = {}

    def walk(self) -> OpenSpielTwin:
        """Compare all histories."""
        self._walk(self.game.start(), 0, self.theirs.new_initial_state())
        return self

    def _walk(self, state, node, other) -> None:
        for place, (action, group) in enumerate(self.compare(state, node, other)):
            for number in group:
                child = int(self.tree.nodes.first_child[node]) + place
                self._walk(self.game.play(state, action), child, other.child(number))

    def play(self, generator: np.random.Generator) -> None:
        """Compare along one random history."""
        state, node, other = self.game.start(), 0, self.theirs.new_initial_state()
        while moves := self.compare(state, node, other):
            place = int(generator.integers(len(moves)))
            action, group = moves[place]
            state, other = self.game.play(state, action), other.child(int(generator.choice(group)))
            node = int(self.tree.nodes.first_child[node]) + place

    def compare(self, state, node, other) -> list[tuple[str, list[int]]]:
        """Compare one history; returns our actions with theirs, none at the end."""
        mover = self.game.turn(state)
        if mover == TERMINAL:
            assert other.is_terminal()
            won = zip(self.game.payoffs(state), other.returns(), strict=True)
            assert all(abs(ours - theirs) < 1e-12 for ours, theirs in won)
            return []
        actions = list(self.game.actions(state))
        meant = [self._action(state, action, other) for action in actions]
        assert sorted(number for group in meant for number in group) == sorted(other.legal_actions())
        if mover == CHANCE:
            assert other.is_chance_node()
            chances = dict(other.chance_outcomes())
            ours = self.game.chance(state)
            np.testing.assert_allclose([sum(chances[a] for a in group) for group in meant], ours, atol=1e-12)
        else:
            assert other.current_player() == mover
            row = int(self.tree.nodes.row[node])
            self.rows.setdefault(row, set()).add(other.information_state_string())
            self.order[row] = [group[0] for group in meant]
        return list(zip(actions, meant, strict=True))

    def _action(self, state, word: str, other) -> list[int]:
        """What open_spiel calls an action of ours; several for a rank of Leduc, one a suit."""
        key, chance = self.game.key, self.game.turn(state) == CHANCE
        if key == "kuhn":
            return [self.game.deck[word]] if chance else [["pass", "bet"].index(word)]
        if key == "leduc":
            if chance:
                rank = "JQKA".index(word)
                return [card for card in (2 * rank, 2 * rank + 1) if card in other.legal_actions()]
            return [{"fold": 0, "check": 1, "call": 1, "bet": 2, "raise": 2}[word]]
        if key == "goofspiel":
            return [int(word) - 1]
        if key in ("phantom_ttt", "dark_hex"):
            return [(int(word[1:]) - 1) * self.game.width + ord(word[0]) - ord("a")]
        if key == "oshi_zumo":
            return [int(word)]
        if key == "sheriff":
            if word in ("pass", "inspect"):
                return [int(word == "inspect")]
            return [other.legal_actions()[int(word.strip("loadfer"))]]
        if key == "battleship":
            return [_battleship_action(self.game, word, other)]
        assert key == "bluff"
        faces, dice = self.game.faces, self.game.dice1 + self.game.dice2
        if chance:
            return [int(word) - 1]
        if word == "liar":
            return [dice * faces]
        quantity, face = map(int, word.split("x"))
        return [(quantity - 1) * faces + face - 1]

    def policy(self, policy: TabularPolicy) -> dict[str, list[tuple[int, float]]]:
        """Our policy as open_spiel's."""
        table = {}
        for row, names in self.rows.items():
            pairs = list(zip(self.order[row], map(float, policy.row(row)), strict=True))
            for name in names:
                table[name] = pairs
        return table


def _battleship_action(game, word: str, other) -> int:
    """By its text: "place ship horizontally with top-left corner in (0, 1)" or "shoot at (0, 1)"."""
    cell = f"({int(word[1]) - 1}, {ord(word[0]) - ord('a')})"
    turned = "vertically" if "-" in word and game.length > 1 and word[0] == word[3] else "horizontally"
    for action in other.legal_actions():
        text = other.action_to_string(action)
        if text.endswith(cell) and ("shoot" in text or turned in text):
            return action
    raise AssertionError(word)


def _battleship(rows: int, columns: int, shots: int, length: int) -> str:
    board = f"board_height={rows},board_width={columns},ship_sizes=[{length}],ship_values=[1]"
    return f"battleship({board},num_shots={shots},allow_repeated_shots=False,loss_multiplier=1.0)"


OPEN_SPIEL = {
    "kuhn": "kuhn_poker",
    "kuhn(players=3)": "kuhn_poker(players=3)",
    "leduc": "leduc_poker",
    "leduc(players=3,ranks=4)": "leduc_poker(players=3)",
    **{
        f"goofspiel({n})": f"goofspiel(imp_info=True,num_cards={n},points_order=descending)"
        for n in (3, 4, 5)
    },
    **{f"bluff(1,1,{n})": f"liars_dice(numdice=1,dice_sides={n})" for n in (2, 3, 4, 5, 6)},
    "dark_hex(2,abrupt=True)": "dark_hex(num_rows=2,num_cols=2,gameversion=adh)",
    "oshi_zumo(4,1)": "oshi_zumo(coins=4,size=1,min_bid=1)",
    "oshi_zumo(3,1,3,0)": "oshi_zumo(coins=3,size=1,horizon=3,min_bid=0)",
    "sheriff": "sheriff",
    "battleship(1,3,2,2)": _battleship(1, 3, 2, 2),
    "battleship(2,2,2)": _battleship(2, 2, 2, 1),
}


def open_spiel_twin(name: str) -> OpenSpielTwin:
    theirs = pyspiel.load_game(OPEN_SPIEL[name])
    if theirs.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        theirs = pyspiel.convert_to_turn_based(theirs)
    return OpenSpielTwin(name, theirs)
