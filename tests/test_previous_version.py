"""Files of the previous version load and continue, and seeded results are the same.

`data/previous/README.md` says how they were made. Floating-point numbers are compared to the bit on the kind
of processor and with the libraries that recorded them; elsewhere to 1e-12, since another processor or
library may round otherwise. Integers are always equal.
"""

from __future__ import annotations

import importlib.util
import json
import math
import random
import sqlite3
import tarfile
from pathlib import Path

import numpy as np
import pytest
from speed import slow
from table_player import Window, thread_server

from openfelt.cli.app import main

DATA = Path(__file__).parent / "data" / "previous"
spec = importlib.util.spec_from_file_location("record_previous", DATA / "record.py")
assert spec is not None
assert spec.loader is not None
record = importlib.util.module_from_spec(spec)
spec.loader.exec_module(record)

RECORDED = json.loads((DATA / "results.json").read_text())
SAME_MACHINE = RECORDED["recorded with"] == record.versions()
EXACT = "exploit, hold'em"
WORDS = ("unit", "how", "saved")  # texts that may be phrased otherwise
SLOW = ("value, hold'em", "model, tally", "respond, mcrnr")  # the first builds the table of all hands


@pytest.fixture(autouse=True)
def _previous(tmp_path, monkeypatch):
    """A copy of the files, in the working directory."""
    with tarfile.open(DATA / "files.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)


def assert_same(found: object, wanted: object, where: str = "") -> None:
    if isinstance(wanted, dict):
        assert isinstance(found, dict), where
        assert wanted.keys() <= found.keys(), where
        for key, value in wanted.items():
            if key not in WORDS:
                assert_same(found[key], value, f"{where} / {key}")
    elif isinstance(wanted, list):
        assert isinstance(found, list), where
        assert len(found) == len(wanted), where
        for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
            assert_same(one, other, f"{where}[{number}]")
    elif isinstance(wanted, float) and not SAME_MACHINE:
        assert math.isclose(found, wanted, rel_tol=1e-12, abs_tol=1e-12), where
    else:
        assert found == wanted, where


def tables(folder: str | Path) -> dict[str, np.ndarray]:
    """The arrays of a folder with a manifest, by name."""
    manifest = json.loads((Path(folder) / "manifest.json").read_text())
    return {name: np.load(Path(folder) / each["file"]) for name, each in manifest["files"].items()}


def assert_same_tables(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    assert found.keys() == wanted.keys()
    for name, table in wanted.items():
        assert found[name].dtype == table.dtype, name
        if SAME_MACHINE or table.dtype.kind != "f":
            assert found[name].tobytes() == table.tobytes(), name
        else:
            np.testing.assert_allclose(found[name], table, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("solver", record.RUNS)
def test_the_same_seed_learns_the_same(solver):
    game, *budget = record.RUNS[solver]
    record.felt("train", game, "--solver", solver, *budget, "--seed", "7", "--out", "again")
    for part in ("checkpoint", "policy"):
        assert_same_tables(tables(f"again/{part}"), tables(f"runs/{solver}/{part}"))


@pytest.mark.parametrize("solver", record.RUNS)
def test_a_run_is_resumed(solver):
    more = ["--iterations", record.TRAIN_MORE[solver], "--out", f"runs/{solver}", "--resume"]
    facts = record.felt("train", record.RUNS[solver][0], "--solver", solver, *more)
    assert_same(facts, RECORDED["resumed"][solver])
    assert_same_tables(tables(f"runs/{solver}/checkpoint"), tables(f"resumed/{solver}"))


@pytest.mark.slow
def test_a_run_of_holdem_is_resumed():
    more = ["--iterations", record.HOLDEM_MORE, "--out", "runs/holdem", "--resume"]
    record.felt("train", record.HOLDEM, *record.HOLDEM_RUN[:2], *more)
    assert_same_tables(tables("runs/holdem/policy"), tables("resumed/holdem"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW))
        for name in record.RESULTS
        if name != EXACT
    ],
)
def test_results_are_the_same(name):
    assert_same(record.result(name, Path("new")), RECORDED[name])


@pytest.mark.slow
def test_exact_values_are_the_same():
    assert_same_exact(record.felt(*record.EXACT, "--resume", "exact"))


def assert_same_exact(facts):
    """The names in the JSON are today's, which are the same for all games."""
    wanted = RECORDED[EXACT]
    assert_same(facts["exploitability"], wanted["mbb_per_game"])
    assert_same(facts["best_responses"], wanted["by_seat"])
    assert_same(facts["interval_95"], wanted["interval_95"])
    assert facts["flops"] == wanted["flops"]


@pytest.mark.slow
def test_exact_values_are_resumed():
    """The second flop is solved today; the first was by the previous version."""
    assert_same_exact(record.felt(*record.EXACT, "--resume", "exact-begun"))
    assert_same_tables(tables("exact-begun"), tables("exact"))


MATCHES = {
    "match": ([*record.MATCH], "--hands", "700"),
    "tournament": (["tournament", "always-call", "random", "--seed", "4"], "--hands", "500"),
    "freezeout": (
        ["freezeout", "always-call", "always-raise", "--stack", "200", "--limit", "100000"],
        "--games",
        "5",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("folder", MATCHES)
def test_a_match_is_resumed(folder):
    """It then has the result of one that was played as a whole today."""
    words, *more = MATCHES[folder]
    whole = record.felt(*words, *more)
    resumed = record.felt(*words, *more, "--out", folder, "--resume")
    assert_same(record.timeless(resumed), record.timeless(whole))


@pytest.mark.parametrize(("name", "count"), [("hands.phhs", 120), ("hands.log", 120), ("hands.db", 400)])
def test_hand_histories_are_read(name, count):
    assert record.felt("history", "check", name)["hands"] == count


def test_hand_histories_are_written_alike(capsys):
    Path("again").mkdir()
    assert main(["history", "convert", "hands.phhs", "again/hands.log"]) == 0
    capsys.readouterr()
    record.felt(
        "match", "always-raise", "probe", "--hands", "120", "--seed", "2", "--history", "again/hands.phhs"
    )
    for name in ("hands.log", "hands.phhs"):
        assert Path("again", name).read_bytes() == Path(name).read_bytes(), name
    record.felt(*record.MATCH, "--history", "again/hands.db")
    assert hands_of("again/hands.db") == hands_of("hands.db")


def hands_of(name: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(name) as base:
        return base.execute("SELECT number, dealt, actions, won, seal FROM hands ORDER BY id").fetchall()


@pytest.mark.parametrize("kind", [slow("tally"), "frequencies", slow("trees"), slow("relational")])
def test_models_are_loaded_and_learned_alike(kind):
    shown = record.felt("model", "show", f"models/{kind}")
    assert shown["kind"] == kind
    record.felt("model", "fit", "hands.phhs", "--player", "probe", "--kind", kind, "--out", "again")
    assert_same_tables(tables("again"), tables(f"models/{kind}"))


def test_sessions_at_the_table_continue():
    with sqlite3.connect("table.db") as base:
        sessions = base.execute("SELECT id, game FROM sessions ORDER BY game").fetchall()
    assert [game for _, game in sessions] == ["holdem", "kuhn(players=3)", "leduc"]
    dice = random.Random(2)
    with thread_server(Path("table.db")) as server:
        for key, _ in sessions:
            status, listed = server.get(f"/api/sessions/{key}/hands")
            assert (status, sorted(each["number"] for each in listed["hands"])) == (200, [1, 2, 3, 4])
            with Window(server, key) as window:
                assert (window.hand["number"], window.hand["over"]) == (5, False)
                window.play_on(dice)
                window.deal()
                assert window.play_on(dice)["hand"]["number"] == 6
