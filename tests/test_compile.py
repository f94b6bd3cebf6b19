"""The compiler: what it refuses, what it caches on disk, and Gambit files read and written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.gambit import export_gambit

import openfelt as felt
from openfelt.cards import boards
from openfelt.core import jit, sources
from openfelt.games.compile import betting_tree, compiler
from openfelt.games.compile.betting_tree import ACTIONS_MASK, KIND, PLAYER, STREET_SHIFT, betting_nodes
from openfelt.games.compile.game_tree import unfold
from openfelt.games.compile.state_graph import explore
from openfelt.games.game import CHANCE, TERMINAL, Game


@dataclass(frozen=True)
class Pennies(Game):
    """Matching pennies with a coin before it, and one fault of choice."""

    key: ClassVar[str] = "pennies"
    players: ClassVar[int] = 2
    fault: str = ""

    def start(self):
        return ""

    def turn(self, state):
        if self.fault == "endless":
            return 0
        if self.fault == "stranger" and len(state) == 1:
            return 7
        return [CHANCE, 0, 1, 0, TERMINAL][len(state)]

    def actions(self, state):
        if self.fault == "stuck" and len(state) == 2:
            return []
        if self.fault == "twins" and len(state) == 2:
            return ["h", "h"]
        if self.fault == "telling" and len(state) == 2 and state[0] == "h":
            return ["h", "t", "x"]
        return ["h", "t"]

    def chance(self, state):
        faults = {"chance": [0.5, 0.6], "nan": [float("nan")] * 2, "short": [1.0], "none": []}
        return faults.get(self.fault, [0.5, 0.5])

    def play(self, state, action):
        if self.fault == "unhashable" and state:
            return [state]
        return state if self.fault == "endless" else state + action

    def sees(self, state, action, player):
        if self.fault == "forgets":
            return ""
        if self.fault == "silent":
            return None
        if self.fault == "names" and player == 0:
            return {1: "a b" if action == "h" else "a", 2: "" if state[-1:] == "h" else "b"}.get(
                len(state), ""
            )
        return action if len(state) in (1, 2) and player == len(state) - 1 else ""

    def payoffs(self, state):
        if self.fault in ("few", "unlimited"):
            return [1.0] if self.fault == "few" else [float("inf"), 0.0]
        won = 1.0 if state[1] == state[2] else -1.0
        return [won, won if self.fault == "payoffs" else -won]


def test_a_game_of_ones_own():
    assert felt.check_game(Pennies()).infosets == 4
    assert felt.expected_values(felt.SequenceLP(Pennies()).run().policy)[0] == pytest.approx(0)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("chance", "do not sum to 1"),
        ("payoffs", "do not sum to zero"),
        ("forgets", "forgets"),
        ("telling", "differ in their actions"),
        ("stuck", "there are no actions"),
        ("twins", "same name"),
        ("endless", "reached from itself"),
        ("stranger", "its players are 0 to 1"),
        ("nan", "do not sum to 1"),
        ("short", "2 outcomes but 1 probabilities"),
        ("none", "2 outcomes but 0 probabilities"),
        ("few", "one finite number per player"),
        ("unlimited", "one finite number per player"),
        ("unhashable", "must be hashable"),
        ("silent", "must be strings"),
        ("names", "have the name 'a b'"),
    ],
)
def test_check_game_finds_every_fault(fault, says):
    with pytest.raises(felt.GameError, match=says):
        felt.check_game(Pennies(fault))


def test_too_large_a_game_is_refused_before_it_is_built():
    with pytest.raises(felt.GameError, match="histories; at most"):
        felt.compile_game("princess_monster(4,4,20)")


def test_a_game_too_large_for_the_memory(monkeypatch):
    from openfelt.games.compile import game_tree

    monkeypatch.setattr(game_tree, "machine_memory", lambda: 1_000.0)
    with pytest.raises(felt.GameError, match=r"needs 0\.0 GB to be compiled; this machine has 0\.0"):
        felt.compile_game("kuhn(pot=5)")


def test_a_game_written_in_a_notebook():
    """Without a source file there is no cache on disk, but the game works."""
    source = Path(__file__).read_text()
    start, end = source.index("@dataclass(frozen=True)"), source.index("def test_a_game_of_ones_own")
    space = {
        "dataclass": dataclass,
        "Game": Game,
        "ClassVar": ClassVar,
        "CHANCE": CHANCE,
        "TERMINAL": TERMINAL,
    }
    exec(source[start:end], space | {"__name__": "__main__"}, space)
    assert felt.check_game(space["Pennies"]()).infosets == 4


def test_games_with_similar_names_have_trees_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(compiler, "LARGE", 1)
    for pot in (2.5, 25):
        felt.compile_game(f"kuhn(pot={pot})", cache=tmp_path)
    compiler._compile.cache_clear()
    tree = felt.compile_game("kuhn(pot=2.5)", cache=tmp_path)
    assert tree.nodes.payoffs.max() == 2.25
    assert len(list((tmp_path / "trees").iterdir())) == 2


def test_trees_of_earlier_sources_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(compiler, "LARGE", 1)
    felt.compile_game("kuhn(pot=6)", cache=tmp_path)
    folder = next((tmp_path / "trees").iterdir())
    folder.rename(folder.with_name(folder.name[:-12] + "0" * 12))
    (tmp_path / "trees" / (folder.name[:-12] + "notes")).mkdir()
    compiler._compile.cache_clear()
    felt.compile_game("kuhn(pot=6)", cache=tmp_path)
    assert {path.name[-5:] for path in (tmp_path / "trees").iterdir()} == {folder.name[-5:], "notes"}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package in the place of ours: `solver` imports `walk`, and dispatches to what `kind` implements."""
    texts = {
        "errors.py": "",
        "walk.py": "from openfelt.errors import (\n    One,\n    Two,\n)\n",
        "solver.py": "from openfelt.walk import step\n@dispatched\ndef pick(): ...\n",
        "kind.py": "from openfelt.solver import pick\n@implements(pick, Kind)\ndef _pick(): ...\n",
        "plain.py": "from openfelt import walk\n",
        "page.py": "def page():\n    from openfelt.walk import step\n",
    }
    folder = tmp_path / "openfelt"
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(sources, "PACKAGE", folder)
    yield folder
    _forget_sources()


def _forget_sources():
    for each in (sources.kernel_checksum, sources.package_checksum):
        each.cache_clear()
    for each in (sources._mentioning, sources._imports, sources._source, sources._modules):
        each.cache_clear()


@pytest.mark.parametrize(
    ("edited", "stale"),
    [
        ("errors", {"errors", "walk", "solver", "kind", "plain"}),
        ("walk", {"walk", "solver", "kind", "plain"}),
        ("solver", {"solver", "kind"}),
        ("kind", {"solver", "kind"}),
        ("page", {"page"}),
    ],
)
def test_an_edit_recompiles_the_kernels_that_depend_on_it_and_no_others(package, edited, stale):
    def checksums():
        _forget_sources()
        return {name: sources.kernel_checksum(f"openfelt.{name}") for name in names}

    names = [path.stem for path in package.iterdir()]
    before, of_all = checksums(), sources.package_checksum()
    with (package / f"{edited}.py").open("a") as file:
        file.write("# another line\n")
    after = checksums()
    assert {name for name in names if before[name] != after[name]} == stale
    assert sources.package_checksum() != of_all
    assert sources.kernel_checksum("module_of_a_user") == sources.package_checksum()


def test_pages_of_the_table_are_not_among_the_sources_of_kernels():
    found = sources.imported_modules(["openfelt.solve.sampling.sampling_solver"])
    assert "openfelt.solve.traverse.episode" in found
    assert not [
        name for name in found if name.startswith(("openfelt.table", "openfelt.cli", "openfelt.studies"))
    ]


def test_only_our_own_old_machine_code_is_removed(tmp_path, monkeypatch):
    parent = tmp_path / "openfelt-kernels"
    for name in ("other", "0123456789abcdef"):
        (parent / name).mkdir(parents=True)
        os.utime(parent / name, (0, 0))
    monkeypatch.setattr(jit.config, "CACHE_DIR", str(tmp_path))
    jit._cache_folder_of.cache_clear()
    jit._cache_folder_of("openfelt.solve.cfr")
    jit._cache_folder_of.cache_clear()
    assert [path.name for path in parent.iterdir()] == ["other"]


def test_sizes_are_known_without_building():
    graph = explore(felt.load_game("goofspiel(5)"))
    tree = felt.compile_game("goofspiel(5)")
    assert graph.num_histories == tree.num_nodes
    assert graph.num_decisions == int((tree.nodes.player >= 0).sum())
    assert explore(felt.load_game("princess_monster(3,3,13)")).num_histories == 49_353_907


def test_large_trees_are_cached_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(compiler, "LARGE", 1_000)
    monkeypatch.setenv("OPENFELT_CACHE", str(tmp_path))
    game = felt.load_game("leduc")
    built = felt.compile_game(game)
    folders = list((tmp_path / "trees").iterdir())
    assert len(folders) == 1
    compiler._compile.cache_clear()
    monkeypatch.setattr(compiler, "explore", lambda _: pytest.fail("it was built again"))
    loaded = felt.compile_game(game)
    assert isinstance(loaded.nodes.row, np.memmap)
    assert loaded.fingerprint == built.fingerprint
    for ours, theirs in zip(built.nodes, loaded.nodes, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert felt.CFR(game).run(5).measurements  # kernels take mapped arrays


def test_a_damaged_tree_is_built_again(tmp_path, monkeypatch):
    monkeypatch.setattr(compiler, "LARGE", 1_000)
    felt.compile_game("goofspiel(4)", cache=tmp_path)
    path = next((tmp_path / "trees").glob("*/nodes.row-*.npy"))
    path.write_bytes(path.read_bytes()[:-8])
    compiler._compile.cache_clear()
    with pytest.warns(UserWarning, match="damaged.*built again"):
        tree = felt.compile_game("goofspiel(4)", cache=tmp_path)
    assert tree.num_nodes == 1077


def test_a_cache_that_cannot_be_written_is_no_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(compiler, "LARGE", 1_000)
    (tmp_path / "trees").write_text("in the way")
    with pytest.warns(UserWarning, match="not stored"):
        assert felt.compile_game("bluff(1,1,3)", cache=tmp_path).num_nodes == 1147


def without_small(monkeypatch):
    """From here on kernels run as machine code, however small the game is."""
    monkeypatch.setattr(jit, "INTERPRETED_ROUNDS", -1)


@pytest.mark.parametrize("name", ["kuhn(players=3)", "leduc", "goofspiel(3)", "princess_monster(2,2,3)"])
def test_small_games_have_the_same_tree_without_machine_code(name, monkeypatch):
    graph = explore(felt.load_game(name))
    plain = unfold(graph, name, "")
    without_small(monkeypatch)
    assert unfold(graph, name, "").fingerprint == plain.fingerprint


def test_small_betting_trees_and_boards_are_the_same_without_machine_code(monkeypatch):
    def made():
        return [betting_nodes.__wrapped__(2, 2)[0], *(boards._steps.__wrapped__(size) for size in range(2))]

    plain = made()
    without_small(monkeypatch)
    for ours, theirs in zip(made(), plain, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(("players", "bets"), [(2, 4), (3, 1)])
def test_edges_are_counted_without_the_nodes(players, bets):
    node = betting_nodes(players, bets)[0]
    edges, decisions = betting_tree._count_edges(players, bets)
    node = node[node[:, PLAYER] >= 0]
    place = (node[:, KIND] >> STREET_SHIFT & 3) * players + node[:, PLAYER]
    actions = node[:, KIND] & ACTIONS_MASK
    assert edges.ravel().tolist() == np.bincount(place, actions, edges.size).tolist()
    assert decisions.ravel().tolist() == np.bincount(place, minlength=edges.size).tolist()


@pytest.mark.parametrize(
    "name",
    [
        "kuhn",
        "kuhn(players=3)",
        "one_card(4)",
        "leduc",
        "goofspiel(3)",
        "bluff(1,1,2)",
        "princess_monster(2,2,3)",
    ],
)
def test_efg_there_and_back(name, tmp_path):
    path = tmp_path / "game.efg"
    felt.write_efg(name, path)
    back, tree = felt.compile_game(str(path)), felt.compile_game(name)
    assert (back.num_nodes, back.num_rows, back.players) == (tree.num_nodes, tree.num_rows, tree.players)
    # Rows come in another order, so compare what does not depend on it.
    ours = felt.exploitability(felt.uniform_policy(name))
    theirs = felt.exploitability(felt.uniform_policy(str(path)))
    assert theirs.values == pytest.approx(ours.values, abs=1e-12)
    assert theirs.best_responses == pytest.approx(ours.best_responses, abs=1e-12)
    assert felt.check_game(str(path)).histories == tree.num_nodes


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel(3)", "bluff(1,1,2)"])
def test_open_spiel_reads_what_we_write(name, tmp_path):
    felt.write_efg(name, tmp_path / "game.efg")
    game = pyspiel.load_game(f"efg_game(filename={tmp_path / 'game.efg'})")
    theirs = pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game))
    assert theirs == pytest.approx(felt.exploitability(felt.uniform_policy(name)).nash_conv, abs=1e-9)


@pytest.mark.parametrize(("name", "value"), [("kuhn_poker", -1 / 18), ("leduc_poker", -0.0856064240)])
def test_we_read_what_open_spiel_writes(name, value, tmp_path):
    path = tmp_path / "game.efg"
    path.write_text(export_gambit(pyspiel.load_game(name)))
    assert felt.expected_values(felt.SequenceLP(path).run().policy)[0] == pytest.approx(value, abs=1e-8)


def test_gambit_reads_what_we_write(tmp_path):
    pygambit = pytest.importorskip("pygambit")
    felt.write_efg("kuhn", tmp_path / "kuhn.efg")
    game = pygambit.read_efg(tmp_path / "kuhn.efg")
    assert len(game.nodes) == 58
    equilibrium = pygambit.nash.lp_solve(game).equilibria[0]
    values = sorted(float(equilibrium.payoff(player)) for player in game.players)
    assert values == pytest.approx([-1 / 18, 1 / 18])


def test_we_read_what_gambit_writes(tmp_path):
    pygambit = pytest.importorskip("pygambit")
    felt.write_efg("leduc", tmp_path / "ours.efg")
    pygambit.read_efg(tmp_path / "ours.efg").to_efg(str(tmp_path / "theirs.efg"))
    path = str(tmp_path / "theirs.efg")
    assert felt.compile_game(path).num_rows == 288
    value = felt.expected_values(felt.SequenceLP(path).run().policy)[0]
    assert value == pytest.approx(-0.0856064240, abs=1e-8)


FORGETFUL = """EFG 2 R "forgetful" { "one" "two" }
p "" 1 1 "" { "a" "b" } 0
p "" 1 2 "" { "c" "d" } 0
t "" 1 "" { 1, -1 }
t "" 2 "" { -1, 1 }
p "" 1 2 "" { "c" "d" } 0
t "" 1
t "" 2
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (FORGETFUL, "forgets"),
        ("", "not a complete"),
        ("EFG 2 R", "not a complete"),
        ("hello", "not a complete"),
        (FORGETFUL.rsplit("\n", 3)[0], "not a complete"),
        (FORGETFUL + 't "" 1\n', "not a complete"),
    ],
)
def test_bad_efg_files(text, says, tmp_path):
    (tmp_path / "bad.efg").write_text(text)
    with pytest.raises(felt.FeltError, match=says):
        felt.load_game(tmp_path / "bad.efg")


HEAD = 'EFG 2 R "x" { "one" "two" }\n'


@pytest.mark.parametrize(
    "text",
    [
        'EFG 2 R "x" { }\nt "" 1 "" { }\n',
        HEAD + 't "" 1 "" { 1 }\n',
        HEAD + 't "" 1 "" { 1e999, 0 }\n',
        HEAD + 't "" 1 "" { 1e99999999, 0 }\n',
        HEAD + 't "" 1 "" { nan, 0 }\n',
        HEAD + 't "" 1 "" { 1/0, 0 }\n',
        HEAD + 'p "" 0 1 "" { "a" "b" } 0\nt "" 0\nt "" 0\n',
        HEAD + 'p "" 3 1 "" { "a" "b" } 0\nt "" 0\nt "" 0\n',
        HEAD + 'c "" 1 "" { "a" "b" } 0\nt "" 0\nt "" 0\n',
        HEAD + 'p "" 1 1 "" { } 0\n',
        HEAD + 'p "" 1 1 0\n',
        HEAD + 't "" 1 "" { 1_0, -10 }\n',
        HEAD + 't "" one "" { 1, -1 }\n',
        HEAD + 't "" 1 "not closed { 1, -1 }\n',
        HEAD + 'p "" 1 1 "" { a b } 0\nt "" 0\nt "" 0\n',
        HEAD + 'c "" 1 "" { "a" "b" 0.5 0.5 } 0\nt "" 0\nt "" 0\n',
        'EFG 2 R "x" { one two }\nt "" 1 "" { 1, -1 }\n',
    ],
)
def test_odd_efg_files(text, tmp_path):
    (tmp_path / "odd.efg").write_text(text)
    with pytest.raises(felt.FileError, match="not a complete"):
        felt.load_game(tmp_path / "odd.efg")


TWICE = """EFG 2 R "twice" { "one" "two" }
c "" 1 "coin" { "h" 1/2 "t" 1/2 } 0
p "" 1 1 "first" { "a" "b" } 0
t "" 1 "win" { 1, -1 }
t "" 2 "loss" { -1, 1 }
p "" 1 1 "first" { "a" "b" } 0
t "" 1 "win" { 1, -1 }
t "" 2
"""


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (
            'p "" 1 1 "first"',
            'p "" 1 1 "second"',
            "Information set 1 of player 1 is called 'first' and also 's",
        ),
        ('{ "a" "b" }', '{ "a" "c" }', "Information set 1 of player 1 is defined twice"),
        ('"win" { 1, -1 }', '"win" { 2, -2 }', "Outcome 1 is defined twice"),
    ],
)
def test_an_efg_that_uses_a_number_for_two_things_is_refused(before, after, says, tmp_path):
    (tmp_path / "game.efg").write_text(TWICE)
    assert felt.check_game(tmp_path / "game.efg").infosets == 1
    first, _, rest = TWICE.rpartition(before)
    (tmp_path / "changed.efg").write_text(first + after + rest)
    with pytest.raises(felt.FileError, match=says):
        felt.check_game(tmp_path / "changed.efg")


def test_the_efg_outcome_zero_has_no_payoffs(tmp_path):
    (tmp_path / "game.efg").write_text(HEAD + 'c "" 1 "" { "a" 1 } 0 "" { 1, -1 }\nt "" 0\n')
    with pytest.raises(felt.FileError, match="Outcome 0 is defined twice"):
        felt.load_game(tmp_path / "game.efg")


def test_an_efg_whose_chances_do_not_sum_to_one(tmp_path):
    (tmp_path / "odd.efg").write_text(HEAD + 'c "" 1 "" { "a" 0.9 "b" 0.9 } 0\nt "" 0\nt "" 0\n')
    with pytest.raises(felt.GameError, match="sum to 1"):
        felt.uniform_policy(tmp_path / "odd.efg")


@pytest.mark.parametrize("labels", [("", "5"), ("a", "a"), ("", ""), ("#7", "")])
def test_efg_labels_that_look_alike(labels, tmp_path):
    """Player 2 sees the coin in two information sets, 5 and 7, whatever their labels: it can always win."""
    sets = [
        f'p "" 2 {number} "{label}" {{ "h" "t" }} 0\n' for number, label in zip((5, 7), labels, strict=True)
    ]
    leaves = 't "" 1 "" { -1, 1 }\n', 't "" 2 "" { 1, -1 }\n'
    coin = 'c "" 1 "" { "h" 1/2 "t" 1/2 } 0\n'
    (tmp_path / "coin.efg").write_text(
        HEAD + coin + sets[0] + leaves[0] + leaves[1] + sets[1] + leaves[1] + leaves[0]
    )
    game = felt.load_game(tmp_path / "coin.efg")
    assert felt.compile_game(game).num_rows == 2
    assert felt.exploitability(felt.uniform_policy(game)).best_responses[1] == pytest.approx(1)


def test_an_information_set_reached_in_two_ways(tmp_path):
    """Player 1 moves again either at once or after chance, in one information set: it cannot tell which."""
    (tmp_path / "two.efg").write_text(
        HEAD + 'c "" 1 "" { "l" 1/2 "r" 1/2 } 0\n'
        'p "" 1 1 "I1" { "a" } 0\np "" 1 2 "I2" { "x" "y" } 0\n'
        't "" 1 "" { 1, -1 }\nt "" 2 "" { -1, 1 }\n'
        'p "" 1 1 "I1" { "a" } 0\nc "" 2 "" { "go" 1 } 0\np "" 1 2 "I2" { "x" "y" } 0\nt "" 2\nt "" 1\n'
    )
    path = tmp_path / "two.efg"
    assert felt.check_game(path).infosets == 2
    assert felt.expected_values(felt.SequenceLP(path).run().policy)[0] == pytest.approx(0)


def test_words_with_quotes_survive_efg(tmp_path):
    @dataclass(frozen=True)
    class Quotes(Pennies):
        key: ClassVar[str] = "quotes"

        def actions(self, state):
            return ['6" gun', "back\\slash"]

        def play(self, state, action):
            return state + action[0]

    felt.write_efg(Quotes(), str(tmp_path / "quotes.efg"))
    tree = felt.compile_game(tmp_path / "quotes.efg")
    assert tree.actions(0) == ('6" gun', "back\\slash")


def test_missing_efg_file(tmp_path):
    with pytest.raises(felt.FeltError, match="cannot be read"):
        felt.load_game(tmp_path / "none.efg")


def test_payoffs_along_the_path_add_up(tmp_path):
    """Gambit allows payoffs at any node; nodes may refer to an outcome or an information set by number."""
    (tmp_path / "sum.efg").write_text(
        'EFG 2 R "sum" { "one" "two" }\n"a comment"\n'
        'c "" 1 "coin" { "h" 1/2 "t" 0.5 } 1 "fee" { -1, 1 }\n'
        'p "" 1 1 "" { "" "" } 0\nt "" 2 "" { 3 -3 }\nt "" 0\n'
        'p "" 1 1 0\nt "" 2\nt "" 2\n'
    )
    game = felt.load_game(tmp_path / "sum.efg")
    measured = felt.exploitability(felt.uniform_policy(game))
    assert measured.values[0] == pytest.approx(0.5 * (0.5 * 2 - 0.5) + 0.5 * 2)
    assert measured.best_responses[0] == pytest.approx(2)
    assert felt.compile_game(game).actions(0) == ("1:", "2:")
