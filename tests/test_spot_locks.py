"""Locks, saved solutions and comparisons by the routes of the spot solver."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from table_player import Server, Window, thread_server
from test_spot_routes import FOREIGN, RIVER, TURN, assert_sentence, post, solved

from openfelt.cards.deck import parse_cards
from openfelt.cards.ranges import parse_range
from openfelt.core.files import MANIFEST, save_folder
from openfelt.spots.files import KIND, load_solution, save_solution
from openfelt.spots.locks import Lock, decision_line
from openfelt.spots.spot import Spot
from openfelt.table.spots.solves import Limits

pytestmark = [pytest.mark.true_board_buckets, pytest.mark.usefixtures("no_lobby")]


@pytest.fixture(scope="module")
def temporary(tmp_path_factory):
    """The folder of temporary files while the server runs; it is empty in the end."""
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("temporary"))
    yield Path(tempfile.tempdir)
    tempfile.tempdir = before


@pytest.fixture(scope="module")
def server(temporary, tmp_path_factory):
    with thread_server(tmp_path_factory.mktemp("spots") / "table.db") as found:
        yield found


@pytest.fixture(scope="module")
def river(server):
    return solved(server, RIVER)


@pytest.fixture(scope="module")
def turn(server):
    return solved(server, TURN)


def position(server: Server, key: str, line: str) -> dict[str, Any]:
    status, found = server.get(f"/api/spot/solves/{key}/position?line={quote(line)}")
    assert status == 200, found
    return found


def rule(hands: str, **shares: float) -> dict[str, Any]:
    return {"hands": hands, "shares": shares}


def spot_of(form: dict[str, Any]) -> Spot:
    return Spot(**{name: value for name, value in form.items() if name != "until"})


# Locks


def test_kings_that_always_call_are_not_bluffed(server, river):
    lock = {"line": "a", "source": river, "rules": [rule("KK", c=3)]}
    key = solved(server, {**RIVER, "locks": [lock]})
    status = server.get(f"/api/spot/solves/{key}")[1]
    assert status["values"] == pytest.approx([100, 0], abs=0.1)
    assert status["form"]["locks"] == [lock]
    found = position(server, key, "a")
    assert found["locked"] is True
    assert [action["frequency"] for action in found["actions"]] == [0, 1]
    assert position(server, key, "")["locked"] is False
    assert position(server, river, "a")["locked"] is False


def test_hands_without_a_rule_play_by_the_source(server, turn):
    lock = {"line": "x x / x", "source": turn, "rules": [rule("98s", b50=1, x=1), rule("9s8s", x=1)]}
    key = solved(server, {**TURN, "locks": [lock]})
    for card in ("2d", "Kc", "9h", "9c"):
        line = f"x x {card} x"
        before, after = (position(server, each, line)["hands"]["ip"] for each in (turn, key))
        assert before["names"] == after["names"]
        for place, name in enumerate(before["names"]):
            wanted = [row[place] for row in before["strategy"]]
            if name[0] + name[2] == "98" and name[1] == name[3]:
                wanted = [1, 0] if name == "9s8s" else [0.5, 0.5]
            assert [row[place] for row in after["strategy"]] == pytest.approx(wanted, abs=1e-4)


def test_a_player_that_is_locked_to_a_solution_is_exploited(server, turn):
    lock = {"player": "ip", "source": turn, "rules": []}
    key = solved(server, {**TURN, "locks": [lock], "until": 0.05})
    before, after = (server.get(f"/api/spot/solves/{each}")[1]["values"][0] for each in (turn, key))
    assert after > before - 0.05
    assert position(server, key, "x")["locked"]
    assert not position(server, key, "")["locked"]
    assert position(server, key, "x x 2d x")["locked"]


@pytest.mark.slow
def test_a_bot_is_locked_to_its_policy(server):
    with Window(server, server.begin("holdem", "always-call")) as window:
        window.deal()
        while not window.hand["over"]:
            window.act(next(each["word"] for each in window.hand["actions"] if each["key"] == "c"))
        link = window.hand["link"]
    steps = server.get(f"/api/hands/{link}")[1]["steps"]
    form = server.get(f"/api/hands/{link}/spot?step={len(steps) - 1}")[1]
    assert (form["bot"]["player"], form["bot"]["name"]) == ("ip", "The Calling Station")
    lock = {"player": "ip", "source": form["bot"]["source"], "rules": []}
    key = solved(server, {**form, "until": 0.5, "locks": [lock]})
    assert [each["frequency"] for each in position(server, key, "x")["actions"]] == [1, 0]
    assert [each["frequency"] for each in position(server, key, "b4")["actions"]] == [0, 1, 0]


def test_the_policy_of_a_bot_is_that_of_its_blueprint(server):
    """On every river, hand by hand, in the order of the spot's actions."""
    from openfelt.bots.policy_bot import policy_bot
    from openfelt.bots.resolve.blueprint import Blueprint
    from openfelt.games.holdem import Holdem
    from openfelt.policy.files import load_policy
    from openfelt.table.review.bot_strategy import BotStrategy

    policy, before = load_policy("default"), ("raise", "call", "check", "check")
    strategy = BotStrategy(policy_bot(policy, Holdem(2)), Holdem(2), 1, before)
    blueprint, tree = Blueprint(policy), policy.tree
    for board, line, words in (
        ("2c7dJhAs", "x", ("check",)),
        ("2c7dJhAs9c", "x x / b4", ("check", "check", "bet")),
    ):
        cards = parse_cards(board)
        node = tree.find_node((*before, *words))
        wanted = blueprint.at(node, cards)
        order = [
            tree.actions(node).index(word)
            for word in ("fold", "check", "call", "bet", "raise")
            if word in tree.actions(node)
        ]
        assert strategy.strategy(line, cards).tolist() == wanted[order].tolist()


@pytest.mark.parametrize(
    "locks",
    [
        {},
        "x",
        [1],
        [{}],
        [{"line": 5}],
        [{"line": "x" * 2000}],
        [{"line": "a"}],
        [{"line": "a", "source": "unknown"}],
        [{"line": "a", "source": 7}],
        [{"line": "a", "source": "s" * 200}],
        [{"line": "a", "rules": {}}],
        [{"line": "a", "rules": [{}]}],
        [{"line": "a", "rules": [{"hands": "KK", "shares": {}}]}],
        [{"line": "a", "rules": [{"hands": "KK", "shares": {"c": 0}}]}],
        [{"line": "a", "rules": [{"hands": "KK", "shares": {"c": -1, "f": 2}}]}],
        [{"line": "a", "rules": [{"hands": "KK", "shares": {"c": float("nan")}}]}],
        [{"line": "a", "rules": [{"hands": "KK", "shares": {"c": 10**400}}]}],
        [{"line": "a", "rules": [{"hands": "KK", "shares": {"c": True}}]}],
        [{"line": "a", "rules": [{"hands": "KK", "shares": {"b7": 1}}]}],
        [{"line": "a", "rules": [{"hands": "XX", "shares": {"c": 1}}]}],
        [{"line": "a", "rules": [{"hands": "AA", "shares": {"c": 1}}]}],
        [{"line": "a c", "rules": [{"hands": "KK", "shares": {"c": 1}}]}],
        [{"line": "x b5", "rules": [{"hands": "KK", "shares": {"c": 1}}]}],
        [{"line": "a 2d", "rules": [{"hands": "KK", "shares": {"c": 1}}]}],
        [{"player": "dealer", "source": "x"}],
        [{"player": "ip"}],
        [{"player": "ip", "source": "x", "rules": [{"hands": "KK", "shares": {"c": 1}}]}],
        [{"line": "a", "rules": [{"hands": "KK", "shares": {"c": 1}}]}] * 101,
    ],
    ids=lambda locks: json.dumps(locks)[:50],
)
@pytest.mark.parametrize("path", ["check", "solves"])
def test_bad_locks_get_a_sentence(path, locks, server):
    status, answer = post(server, path, {**RIVER, "locks": locks})
    assert status in (400, 404)
    assert_sentence(answer)


def test_the_source_of_a_lock_must_fit(server, river, turn):
    for form, source, line in (
        (RIVER, turn, "a"),
        (TURN, river, "x"),
        ({**RIVER, "bets": "50%"}, river, "b50"),
    ):
        status, answer = post(server, "solves", {**form, "locks": [{"line": line, "source": source}]})
        assert status == 400
        assert_sentence(answer)


def test_tables_of_16_bits_take_half_the_memory(server, turn):
    wide, narrow = (post(server, "check", {**TURN, "compress": each})[1]["memory"] for each in (False, True))
    assert narrow == pytest.approx(wide / 2, abs=1)
    key = solved(server, {**TURN, "compress": True})
    first, second = (server.get(f"/api/spot/solves/{each}")[1] for each in (turn, key))
    assert (second["form"]["compress"], second["memory"]) == (True, narrow)
    assert second["values"] == pytest.approx(first["values"], abs=0.3)
    status, answer = post(server, "check", {**TURN, "compress": 1})
    assert status == 400
    assert_sentence(answer)


def test_locks_that_tell_boards_apart_need_more_memory(server, turn):
    lock = {"line": "x x / x", "source": turn, "rules": []}
    symmetric = {**TURN, "board": "2c3c4c8c", "oop": "AA,QQ", "ip": "KK,JJ"}
    merged = post(server, "check", symmetric)[1]["memory"]
    key = solved(server, symmetric)
    assert (
        post(server, "check", {**symmetric, "locks": [{**lock, "source": key}]})[1]["memory"] > 1.5 * merged
    )


def test_a_lock_by_board_in_the_library():
    """Each river gets its own strategy; the solver does not change it, and images of suits are kept apart."""
    spot = spot_of({**TURN, "board": "2c3c4c8c", "oop": "AA,QQ", "ip": "KK,JJ"})

    def always_red(board: tuple[int, ...]) -> Any:
        chance = 1.0 if board[-1] % 4 in (1, 2) else 0.25
        return np.repeat([[1 - chance], [chance]], 1326, axis=1)

    solution = spot.solve(1.0, locks=[Lock("x x / x", always_red)])
    for card, wanted in (("9d", 1.0), ("9h", 1.0), ("9s", 0.25)):
        assert solution.node(f"x x {card} x").frequencies[1] == pytest.approx(wanted, abs=1e-6)
        board = parse_cards(f"2c3c4c8c{card}")
        kings = parse_range("KhKd") > 0
        assert solution.strategy("x x / x", board)[1, kings] == pytest.approx(wanted, abs=1e-6)
    assert [decision_line(spot, *place) for place in solution.locked] == ["x x / x"]


# Saved solutions


def archive(server: Server, key: str) -> bytes:
    status, headers, body = server.ask("GET", f"/api/spot/solves/{key}/solution.zip")
    assert status == 200
    assert headers["content-disposition"] == 'attachment; filename="solution.zip"'
    return body


def load(server: Server, body: bytes, **headers: str) -> tuple[int, Any]:
    status, _, answer = server.ask("POST", "/api/spot/solutions", body, headers)
    return status, json.loads(answer)


def test_a_solution_is_saved_and_loaded(server, turn, temporary):
    body = archive(server, turn)
    status, answer = load(server, body)
    assert status == 200
    key = answer["solve"]
    assert key != turn
    before, after = (server.get(f"/api/spot/solves/{each}")[1] for each in (turn, key))
    assert (after["state"], after["loaded"], before["loaded"]) == ("done", True, False)
    for name in ("iterations", "exploitability", "values", "memory"):
        assert after[name] == pytest.approx(before[name], abs=1e-4)
    for name in ("board", "pot", "stack", "bets", "raises", "rake", "big_blind", "locks"):
        assert after["form"][name] == before["form"][name]
    for line in ("", "x", "b50", "x x 2d", "x x 9s x"):
        one, two = (position(server, each, line) for each in (turn, key))
        frequencies = [[action["frequency"] for action in each["actions"]] for each in (one, two)]
        assert frequencies[1] == pytest.approx(frequencies[0], abs=1e-3)
        assert two["values"] == pytest.approx(one["values"], abs=0.05)
    assert not list(temporary.iterdir())


def test_the_library_reads_what_the_page_saves_and_the_other_way_round(server, river, tmp_path):
    with zipfile.ZipFile(io.BytesIO(archive(server, river))) as packed:
        packed.extractall(tmp_path / "saved")
    solution = load_solution(tmp_path / "saved")
    assert solution.values == pytest.approx([75, 25], abs=0.1)
    save_solution(solution, tmp_path / "again")
    key = load(server, zipped(tmp_path / "again"))[1]["solve"]
    assert position(server, key, "")["values"] == pytest.approx([75, 25], abs=0.1)


def test_locks_survive_saving(server, turn):
    locked = [
        {"line": "x", "source": turn, "rules": [rule("random", x=1)]},
        {"player": "oop", "source": turn},
    ]
    first = solved(server, {**TURN, "locks": locked})
    key = load(server, archive(server, first))[1]["solve"]
    form = server.get(f"/api/spot/solves/{key}")[1]["form"]
    assert [(each.get("line"), each.get("player"), each["source"]) for each in form["locks"]] == [
        (None, "oop", key),
        ("x", None, key),
    ]
    again = solved(server, form)
    assert [each["frequency"] for each in position(server, again, "x")["actions"]] == [1, 0]


def zipped(folder: Path, **options: Any) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", **options) as files:
        for path in sorted(folder.iterdir()):
            files.write(path, path.name)
    return packed.getvalue()


@pytest.fixture(scope="module")
def saved(server, river, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    with zipfile.ZipFile(io.BytesIO(archive(server, river))) as packed:
        packed.extractall(folder)
    return folder


def test_hostile_archives_get_a_sentence(server, saved, temporary):
    good = zipped(saved)
    assert load(server, good)[0] == 200
    array = next(path.name for path in saved.iterdir() if path.name.startswith("river-average"))
    bad = [b"", b"PK", b"x" * 1000, good[:-30], good[: len(good) // 2]]
    place = good.index(array.encode()) + len(array) + 200
    bad.append(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
    bad.append(zipped(saved, compression=zipfile.ZIP_BZIP2))
    for name in (
        "../evil.npy",
        "/tmp/evil.npy",
        "folder/evil.npy",
        "..",
        "a\\b.npy",
        "é.npy",
        "x" * 200,
        array,
    ):
        packed = io.BytesIO(good)
        with pytest.warns() if name == array else _nothing(), zipfile.ZipFile(packed, "a") as files:
            files.writestr(name, b"0")
        bad.append(packed.getvalue())
    for changes in (
        {array: b""},
        {array: b"\x93NUMPY" + b"0" * 500},
        {MANIFEST: b"[]"},
        {MANIFEST: b"{" * 10_000},
    ):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as files:
            for path in saved.iterdir():
                files.writestr(path.name, changes.get(path.name, path.read_bytes()))
        bad.append(packed.getvalue())
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr(MANIFEST, b" " * 2_000_000)
    bad.append(bomb.getvalue())
    for body in bad:
        status, answer = load(server, body)
        assert status == 400, body[:60]
        assert_sentence(answer)
        assert str(temporary) not in answer["error"]
    assert not list(temporary.iterdir())


class _nothing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    "change",
    [
        {"exploitability": float("nan")},
        {"values": [1.0]},
        {"values": [1e400, 0.0]},
        {"iterations": -5},
        {"seconds": "soon"},
        {"spot": []},
        {"spot": {"board": "2c3d4h"}},  # other tables
        {"spot": {"pot": 10**40}},
        {"spot": {"bets": "1c" * 500}},
        {"spot": {"thresholds": [float("nan"), 0, 0]}},
        {"spot": {"ranges": 1}},
        {"merged": None, "arrays": {"river-average": np.zeros(3, np.uint16)}},
        {"arrays": {"river-average": np.float32}},
        {"arrays": {"ranges": np.full((2, 1326), np.nan)}},
        {"arrays": {"ranges": np.ones((1326, 2))}},
        {"arrays": {"ranges": np.zeros((2, 1326))}},
    ],
    ids=str,
)
def test_archives_with_valid_checksums_are_checked_too(change, server, saved, tmp_path):
    """Anybody can compute checksums: what they protect need not be a solution."""
    manifest = json.loads((saved / MANIFEST).read_text())
    arrays = {name: np.load(saved / entry["file"]) for name, entry in manifest["files"].items()}
    facts = {
        name: manifest[name]
        for name in ("spot", "values", "exploitability", "iterations", "seconds", "merged")
    }
    change = dict(change)
    for name, array in change.pop("arrays", {}).items():
        arrays[name] = arrays[name].astype(array) if isinstance(array, type) else array
    if isinstance(change.get("spot"), dict):
        change["spot"] = {**facts["spot"], **change["spot"]}
    save_folder(tmp_path / "changed", KIND, arrays, {**facts, **change})
    status, answer = load(server, zipped(tmp_path / "changed"))
    assert status == 400
    assert_sentence(answer)


def test_large_solutions_are_refused_before_they_are_read(server, turn, tmp_path):
    body = archive(server, turn)
    with thread_server(tmp_path / "table.db", limits=Limits(memory=len(body) - 1.0)) as small:
        status, answer = load(small, body)
        assert (status, answer["error"].split(";")[0]) == (400, "The file is too large")
    needed = server.get(f"/api/spot/solves/{turn}")[1]["memory"]
    with thread_server(tmp_path / "other.db", limits=Limits(memory=needed - 1.0)) as small:
        status, answer = load(small, body)
        assert status == 400
        assert "its tables need" in answer["error"] or "too large" in answer["error"]


# Comparisons


def test_two_solutions_are_compared(server, river):
    other = solved(server, {**RIVER, "locks": [{"line": "a", "source": river, "rules": [rule("KK", c=1)]}]})
    status, found = server.get(f"/api/spot/solves/{river}/compare?other={other}&line=")
    assert status == 200
    assert [action["code"] for action in found["actions"]] == ["x", "a"]
    assert found["actions"][1]["frequencies"] == pytest.approx([0.75, 0.5], abs=0.01)
    assert found["changed"] == pytest.approx(0.25, abs=0.01)
    assert {each["hand"][0] for each in found["hands"] if each["changed"] > 0.3} == {"Q"}
    assert found["values"][1] == pytest.approx([100, 0], abs=0.1)


def test_bad_comparisons_get_a_sentence(server, river, turn):
    for other, line in (
        ("unknown", ""),
        ("", ""),
        (turn, ""),
        (river, "a c"),
        (river, "b7"),
        (river, "x" * 2000),
    ):
        status, answer = server.get(f"/api/spot/solves/{river}/compare?other={other}&line={quote(line)}")
        assert status in (400, 404)
        assert_sentence(answer)


# Access


def test_foreign_pages_and_visitors_without_the_token_are_refused(server, river, tmp_path):
    body = archive(server, river)
    assert load(server, body, **FOREIGN)[0] == 403
    for path in ("solution.zip", f"compare?other={river}"):
        assert server.ask("GET", f"/api/spot/solves/{river}/{path}", None, FOREIGN)[0] == 403
        assert server.ask("GET", f"/api/spot/solves/unknown/{path}")[0] == 404
        assert server.ask("GET", f"/api/spot/solves/{river[:-1]}/{path}")[0] == 404
    assert server.ask("GET", "/api/spot/solutions")[0] == 405
    with thread_server(tmp_path / "table.db", token="a long token") as other:
        assert load(other, body)[0] == 401
        assert other.ask("GET", f"/api/spot/solves/{river}/solution.zip")[0] == 401


def test_a_file_is_not_loaded_while_a_spot_is_solved(server, river, monkeypatch):
    from threading import Event

    from table_player import PATIENCE, until

    from openfelt.table.spots.solves import SpotSolves

    body, may_go_on = archive(server, river), Event()
    monkeypatch.setattr(SpotSolves, "_report", lambda *_: may_go_on.wait(PATIENCE) or True)
    key = post(server, "solves", {**TURN, "until": 0.01})[1]["solve"]
    assert load(server, body)[0] == 409
    may_go_on.set()
    until(lambda: server.get(f"/api/spot/solves/{key}")[1]["state"] == "done")


def test_files_that_cannot_be_written_leave_nothing(server, river, temporary, monkeypatch):
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    body = archive(server, river)
    monkeypatch.setattr(shutil, "copyfileobj", fail)
    status, answer = load(server, body)
    assert (status, answer["error"]) == (400, "The file could not be unpacked (No space left on device).")
    status, _, sent = server.ask("GET", f"/api/spot/solves/{river}/solution.zip")
    assert (status, json.loads(sent)["error"]) == (
        400,
        "The solution could not be written (No space left on device).",
    )
    assert not list(temporary.iterdir())
