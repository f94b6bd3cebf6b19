"""Tournaments and matches from the command line: known results, exact values, what is kept and resumed."""

from __future__ import annotations

import csv
import json
import math
from itertools import combinations

import numpy as np
import pytest

from openfelt.arena.cross_table import CrossTable
from openfelt.arena.match import match
from openfelt.arena.tournament import Amount, mean_of, pairings, table_name, tournament
from openfelt.bots.registry import BOTS
from openfelt.cli.app import main
from openfelt.core.errors import FeltError, FileError
from openfelt.games.compile.compiler import compile_game
from openfelt.games.registry import load_game
from openfelt.measure.exploitability import values_against
from openfelt.plots.cross_table import write_report
from openfelt.policy.rules import rule_table
from openfelt.policy.tabular import TabularPolicy

RULES = ("always-fold", "always-call", "always-raise", "random", "probe")
LEDUC = {"game": "leduc", "hands": 20_000, "seed": 3}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def cup():
    return tournament(*RULES, **LEDUC)


def numbers(result):
    table = result.cross_table
    return table.names, *(
        part.tolist() for part in (table.mean, table.mean_interval, table.won, table.interval)
    )


def same(one, other):
    """Equal numbers, where nothing against oneself is equal to nothing."""
    for left, right in zip(numbers(one), numbers(other), strict=True):
        if isinstance(left, tuple):
            assert left == right
        else:
            np.testing.assert_array_equal(left, right)


def test_what_one_wins_the_other_loses(cup):
    table = cup.cross_table
    off_diagonal = ~np.eye(len(RULES), dtype=bool)
    assert np.isnan(np.diag(table.won)).all()
    np.testing.assert_array_equal(table.won[off_diagonal], -table.won.T[off_diagonal])
    np.testing.assert_array_equal(table.interval[off_diagonal], table.interval.T[off_diagonal])
    assert (np.diff(table.mean) <= 0).all()
    np.testing.assert_allclose(table.mean, np.nanmean(table.won, axis=1))
    assert (table.interval[off_diagonal] > 0).any()


def test_winnings_are_those_of_exact_evaluation(cup):
    """In Leduc the value of every pair is known exactly; intervals of 95% hold it in most of the cells."""
    tree = compile_game(load_game("leduc"))
    policies = {rule: TabularPolicy(tree, rule_table(tree, rule)) for rule in RULES}
    inside = 0
    for one, other in combinations(RULES, 2):
        exact = np.mean(values_against(policies[one], policies[other]))
        won = cup.won(one, other)
        assert abs(won.mean - exact) <= 2.2 * won.interval + 1e-12  # over four standard errors
        inside += abs(won.mean - exact) <= won.interval + 1e-12
    assert inside >= 8


def test_always_fold_loses_its_blinds_exactly():
    """A chip as dealer, two without the button: 750 mbb/h against always-raise."""
    result = match("always-fold", "always-raise", hands=400, compiled=False)
    assert [score.won.mean for score in result.scores] == [-1.5, 1.5]
    assert result.amount(result.scores[0].won).mean == -750
    assert result.score("always-fold").won.error == 0


def test_the_order_of_bots_makes_no_difference(cup):
    same(tournament(*reversed(RULES), **LEDUC), cup)


def test_all_matches_share_their_deals(cup):
    """Each pairing is the match that anyone would play with that seed."""
    alone = match("always-call", "random", **LEDUC)
    found = next(
        each for each in cup.matches if [score.name for score in each.scores] == ["always-call", "random"]
    )
    assert [score.won for score in found.scores] == [score.won for score in alone.scores]


def test_resumed_is_as_if_never_stopped(cup, tmp_path):
    """Stopped after two bots with fewer hands, cut off while writing, then gone on with all."""
    folder = tmp_path / "cup"
    tournament(*RULES[:2], **{**LEDUC, "hands": 8_000}, folder=folder)
    blocks = folder / table_name(sorted(RULES[:2])) / "parts.jsonl"
    blocks.write_text(blocks.read_text() + '{"first": 4000, "cou')
    resumed = tournament(*RULES, **LEDUC, folder=folder)
    same(resumed, cup)
    assert len(list(folder.glob("*/match.json"))) == 10
    kept = {path: path.read_bytes() for path in folder.glob("*/parts.jsonl")}
    same(tournament(*RULES, **LEDUC, folder=folder), cup)
    assert {path: path.read_bytes() for path in folder.glob("*/parts.jsonl")} == kept


def test_interrupted_in_the_middle_of_a_match(tmp_path):
    bots = ("random", "probe", "always-call")
    slow = {"game": "kuhn", "hands": 1_200, "compiled": False}  # in three blocks

    def stop(hands):
        reported.append(hands)
        if sum(reported) > 1_700:
            raise KeyboardInterrupt

    reported: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        tournament(*bots, **slow, folder="cup", progress=stop)
    kept = [path.read_text().count("\n") for path in sorted(tmp_path.glob("cup/*/parts.jsonl"))]
    assert kept == [3, 2]
    same(tournament(*bots, **slow, folder="cup"), tournament(*bots, **slow))


def test_a_folder_is_of_one_tournament(tmp_path):
    few = {"game": "kuhn", "hands": 100}
    tournament("random", "always-call", **few, folder="cup")
    with pytest.raises(FeltError, match="seed 0, not 1; nothing was written"):
        tournament("random", "always-raise", **few, seed=1, folder="cup")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("")
    with pytest.raises(FeltError, match="other files"):
        tournament("random", "always-call", **few, folder="other")
    (tmp_path / "cup" / "tournament.json").write_text("[")
    with pytest.raises(FileError, match="damaged"):
        tournament("random", "always-call", **few, folder="cup")


@pytest.mark.slow
def test_processes_change_nothing(cup):
    same(tournament(*RULES, **LEDUC, processes=2), cup)
    few = {"game": "kuhn", "hands": 1_200, "compiled": False}  # this way in processes of their own
    same(tournament("random", "probe", **few, processes=2), tournament("random", "probe", **few))


def test_three_players_meet_in_all_triples():
    bots = RULES[:4]
    result = tournament(*bots, game="kuhn(players=3)", hands=3_000)
    assert len(result.matches) == 4
    for found in result.matches:
        assert sum(score.won.mean for score in found.scores) == pytest.approx(0, abs=1e-9)
    pair = {"random", "always-call"}
    together = [found for found in result.matches if pair <= {score.name for score in found.scores}]
    tables = [found.score("random").won.mean for found in together]
    assert len(tables) == 2
    assert result.won("random", "always-call").mean == pytest.approx(np.mean(tables))
    assert "at tables with" in str(result)
    assert "4 tables of 3,000 hands" in str(result)


def test_the_mean_of_winnings_on_the_same_deals_is_no_surer_than_they_are():
    """Errors that go the same way do not cancel: the mean of two equal ones is as uncertain as either."""
    assert mean_of([Amount(1.0, 2.0), Amount(3.0, 2.0)]) == (2.0, 2.0)
    assert mean_of([Amount(1.0, 2.0), Amount(1.0, 4.0)]) == (1.0, 3.0)


def test_pairings_and_names_of_folders():
    game = load_game("kuhn")
    assert pairings(["b", "c", "a"], game) == [("a", "b"), ("a", "c"), ("b", "c")]
    with pytest.raises(FeltError, match="b is named twice"):
        pairings(["b", "a", "b"], game)
    with pytest.raises(FeltError, match="3 bots or more, not 2"):
        pairings(["a", "b"], load_game("kuhn(players=3)"))
    names = [
        table_name(pair) for pair in (("runs/a", "b"), ("runs", "a+b"), ("runs-a", "b"), ("greedy@x", "y"))
    ]
    assert len(set(names)) == 4
    assert names[3] == "greedy@x+y"
    assert not any("/" in name for name in names)


def test_what_is_written(cup, tmp_path, monkeypatch):
    assert write_report(cup, tmp_path)
    with (tmp_path / "cross-table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20
    for row in rows:
        won = cup.won(row["bot"], row["against"])
        assert (float(row["won"]), float(row["interval_95"])) == pytest.approx(won, rel=1e-5, abs=1e-12)
        assert (row["unit"], row["hands"]) == ("chips a hand", "20000")
    page = (tmp_path / "cross-table.md").read_text()
    assert all(bot in page for bot in RULES)
    assert "cross-table.png" in page
    assert (tmp_path / "cross-table.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    (tmp_path / "cross-table.png").unlink()
    monkeypatch.setattr("openfelt.plots.cross_table.has_matplotlib", lambda: False)
    assert not write_report(cup, tmp_path)
    assert "cross-table.png" not in (tmp_path / "cross-table.md").read_text()
    assert not (tmp_path / "cross-table.png").exists()


def test_text_of_a_cross_table():
    won = np.array([[math.nan, 1234.56], [-1234.56, math.nan]])
    interval = np.array([[math.nan, 7.25], [7.25, math.nan]])
    table = CrossTable(("a", "longer"), won, interval, won[[0, 1], [1, 0]], interval[[0, 1], [1, 0]], "mbb/h")
    assert table.text().splitlines() == [
        "                 mean         1         2",
        "  1  a       +1,234.6         -  +1,234.6",
        "                ± 7.2               ± 7.2",
        "  2  longer  -1,234.6  -1,234.6         -",
        "                ± 7.2     ± 7.2",
    ]
    assert "| 2 | longer | -1,234.6 ± 7.2 | -1,234.6 ± 7.2 | - |" in table.markdown()


def test_command_tournament(capsys, tmp_path):
    words = [
        "tournament",
        "random",
        "probe",
        "always-call",
        "--game",
        "kuhn",
        "--hands",
        "2000",
        "--out",
        "cup",
    ]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "kuhn: 3 pairings of 2,000 hands" in text
    assert ".csv, .md and .png" in text
    assert main(words) == 2
    assert "add --resume" in capsys.readouterr().err
    assert main([*words, "--resume", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["matches"]) == 3
    assert sum(each["won"] for each in found["ranking"]) == pytest.approx(0)
    assert len(list((tmp_path / "cup").glob("*/match.json"))) == 3


def test_command_match(capsys):
    words = ["match", "random", "always-call", "--game", "kuhn", "--hands", "2000", "--out", "kept"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert text.startswith("kuhn: 2,000 hands (1,000 deals")
    assert main(words) == 2
    assert "kept holds a match already; add --resume" in capsys.readouterr().err
    assert main([*words, "--resume", "--json"]) == 0
    resumed = json.loads(capsys.readouterr().out)
    straight = match("random", "always-call", game="kuhn", hands=2_000).as_dict()
    assert resumed["participants"] == json.loads(json.dumps(straight["participants"]))
    assert main([*words[:-2], "--python", "--limit", "6e6", "--json"]) == 0
    slow = json.loads(capsys.readouterr().out)
    assert slow["participants"][0]["won"] == straight["participants"][0]["won"]
    assert slow["participants"][0]["milliseconds_per_action"] > 0


def test_command_match_stops_when_it_is_decided(capsys):
    words = ["match", "always-raise", "always-fold", "--game", "leduc", "--hands", "1e6"]
    assert main([*words, "--until-better", "0.1", "--error-rate", "0.01", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "better"
    assert found["hands"] < 1_000_000


def test_command_bots(capsys):
    assert main(["bots"]) == 0
    text = capsys.readouterr().out
    assert all(f"{kind.summary}\n" in text for kind in BOTS.values())
    assert main(["bots", "--game", "goofspiel(4)", "--json"]) == 0
    assert [bot["name"] for bot in json.loads(capsys.readouterr().out)["bots"]] == [
        *("random", "equilibrium", "mcts", "smooth-uct", "uct")
    ]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["match", "random", "alwys-raise"], "did you mean 'always-raise'"),
        (["match", "random"], "at least two bots"),
        (["match", "random", "random", "random", "--game", "kuhn"], "kuhn is for 2 bots, not for 3"),
        (["match", "random", "random", "--game", "khun"], "did you mean 'kuhn'"),
        (["match", "random", "always-call", "--game", "goofspiel(4)"], "plays poker, not goofspiel(4)"),
        (
            ["match", "random", "probe", "--game", "kuhn", "--hands", "1"],
            "a whole number of 4 or more, not 1",
        ),
        (["match", "random", "probe", "--dealing", "twice"], "invalid choice"),
        (["match", "random", "probe", "--resume"], "--resume needs --out"),
        (["match", "random", "probe", "--resume", "--out", "nowhere"], "no match in nowhere"),
        (["match", "random", "probe", "--error-rate", "0.1"], "--error-rate needs --until-better"),
        (["match", "random", "probe", "--until-better", "1", "--error-rate", "0.7"], "below 0.5"),
        (["match", "random", "probe", "--game", "kuhn", "--history", "hands.txt"], ".phhs"),
        (["match", "random", "no.py:Bot"], "no file no.py"),
        (["tournament", "random"], "needs 2 bots or more, not 1"),
        (["tournament", "random", "random"], "random is named twice"),
        (["tournament", "random", "prbe"], "did you mean 'probe'"),
        (["tournament", "random", "probe", "--resume"], "--resume needs --out"),
        (["bots", "--game", "khun"], "did you mean 'kuhn'"),
    ],
)
def test_bad_input_is_one_sentence(words, says, capsys):
    assert main(words) == 2
    reported = capsys.readouterr().err
    assert says in reported
    assert reported.count("\n") == 1
