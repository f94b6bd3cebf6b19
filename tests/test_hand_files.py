"""What goes into a file of hands comes out of it, or the file is refused: all formats, all commands."""

from __future__ import annotations

import dataclasses
import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from random_hands import hidden, played, some_hands
from speed import slow

from openfelt.arena.acpc.competition_game import definition_of
from openfelt.arena.hand_files import read_hands, write_hands
from openfelt.cli.app import main
from openfelt.core.errors import FeltError, FileError
from openfelt.games.registry import load_game, load_recorded_game
from openfelt.hands import check
from openfelt.hands.check import check_record
from openfelt.hands.packed import Row, seal_of
from openfelt.hands.record import HandRecord
from openfelt.hands.store import HandStore

GAMES = ["holdem", "holdem(players=3)", "holdem(bets=3)", "kuhn", "kuhn(players=3)", "leduc", "goofspiel(4)"]
ENDINGS = (".db", ".phhs", ".log", ".txt")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def felt(capsys, *words: str) -> tuple[int, str, str]:
    code = main([*words])
    told = capsys.readouterr()
    assert "Traceback" not in told.err
    return code, told.out, told.err


def files() -> set[str]:
    return {str(path) for path in Path().rglob("*")}


def read_or_refused(path: str) -> list[HandRecord] | None:
    try:
        return list(read_hands(path))
    except FeltError:
        return None


def converted(path: str, ending: str) -> list[HandRecord] | None:
    """The hands of a file after `felt history convert` to another format; None if that is refused."""
    target = Path("target" + ending)
    before = files()
    code = main(["history", "convert", path, str(target)])
    if code:
        assert files() == before
        return None
    hands = list(read_hands(target))
    target.unlink()
    return hands


def differing(hands: list[HandRecord], dice: random.Random) -> list[HandRecord]:
    """Some with hidden cards."""
    return [hidden(hand, dice.randrange(len(hand.names))) if dice.random() < 0.2 else hand for hand in hands]


@pytest.mark.parametrize("name", GAMES)
def test_what_goes_in_comes_out_of_every_format(name):
    """Along chains of conversions, the hands are the same or one sentence refuses them."""
    dice = random.Random(name)
    for number in range(2):
        hands = some_hands(name, 12, seed=number)
        if name.startswith("holdem") and number:
            hands = differing(hands, dice)
        path = "start.db"
        write_hands(path, hands, match="a match")
        assert list(read_hands(path)) == hands
        for step in range(4):
            ending = dice.choice(ENDINGS)
            found = converted(path, ending)
            if found is None:
                expressible = ending == ".db" or (name.startswith(("holdem", "kuhn")) and ending == ".log")
                assert number or not expressible
                continue
            assert found == hands
            path = f"step{step}{ending}"
            write_hands(path, found, match="a match")
        for file in Path().iterdir():
            file.unlink()


def mutants(whole: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Copies with a byte changed, the end cut off, bytes zeroed, a line removed, doubled or moved."""
    dice, lines = random.Random(seed), whole.splitlines(keepends=True)
    for number in range(count):
        place, line, other = dice.randrange(len(whole)), *(dice.randrange(len(lines)) for _ in "ab")
        rest = lines[:line] + lines[line + 1 :]
        yield (
            whole[:place] + bytes([dice.randrange(256)]) + whole[place + 1 :],
            whole[:place] + dice.choice(b"0123456789rcfk").to_bytes(1, "big") + whole[place + 1 :],
            whole[:place],
            whole[:place] + bytes(6) + whole[place + 6 :],
            b"".join(rest),
            b"".join([*lines[:line], lines[line], *lines[line:]]),
            b"".join([*rest[:other], lines[line], *rest[other:]]),
        )[number % 7]


@pytest.mark.parametrize("count", [42, slow(1_050)])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_changed_file_is_refused_or_read_as_it_stands(ending, count):
    """Every hand that is accepted follows the rules, and leaves in every format as it came."""
    hands = some_hands("holdem", 6) + differing(some_hands("holdem", 6, seed=1), random.Random(1))
    hands = [dataclasses.replace(hand, number=number) for number, hand in enumerate(hands)]
    hands = [hand for hand in hands if ending == ".db" or check_record(hand) is None]
    if ending == ".phhs":
        hands = [hand for hand in hands if "??" not in hand.dealt]
    write_hands(f"whole{ending}", hands)
    whole, refused = Path(f"whole{ending}").read_bytes(), 0
    for number, mutant in enumerate(mutants(whole, count, seed=3)):
        path = f"mutant{ending}"
        Path(path).write_bytes(mutant)
        found = read_or_refused(path)
        refused += found is None
        if found is not None and ending == ".db":
            assert found == hands
        if found and mutant != whole:
            assert all(map(by_replay, found))
        if number % 10 == 0:
            for other in ENDINGS:
                assert converted(path, other) in (found, None)
        for rest in Path().glob("mutant*"):
            rest.unlink()
    assert count / 4 < refused < count


def by_replay(record: HandRecord) -> bool:
    """Whether a hand follows the rules, without the shortcut."""
    won = [tuple(payoffs) for payoffs in check._possible_payoffs(load_recorded_game(record.game), record)]
    return any(check._same(record.won, payoffs) for payoffs in won)


@pytest.mark.parametrize("name", ["holdem", "holdem(players=3)", "holdem(bets=3)"])
def test_the_shortcut_finds_what_a_replay_finds(name, monkeypatch):
    dice = random.Random(5)
    hands = differing(some_hands(name, 60), dice)
    cards = sorted({card for hand in hands for card in hand.dealt} | {"1x"})

    def changed(hand: HandRecord) -> HandRecord:
        def edited(words: tuple[str, ...], choice: list[str]) -> tuple[str, ...]:
            place = dice.randrange(len(words))
            new = [(), (words[place],) * 2, (dice.choice(choice),)][dice.randrange(3)]
            return (*words[:place], *new, *words[place + 1 :])

        kind = dice.randrange(4)
        if kind == 0:
            return dataclasses.replace(hand, dealt=edited(hand.dealt, cards))
        if kind == 1:
            return dataclasses.replace(
                hand, actions=edited(hand.actions, ["fold", "check", "call", "bet", "raise"])
            )
        if kind == 2:
            return dataclasses.replace(hand, won=tuple(-chips for chips in hand.won[: dice.randrange(4)]))
        return dataclasses.replace(hand, names=hand.names[: dice.randrange(4)])

    every = hands + [changed(hand) for hand in hands for _ in range(6)]
    quick = [check_record(hand) for hand in every]
    assert quick[: len(hands)] == [None] * len(hands)
    monkeypatch.setattr(check, "_quick_payoffs", lambda game, record: None)
    assert [check_record(hand) for hand in every] == quick
    assert sum(fault is not None for fault in quick) > 150


def with_a_bad_hand(ending: str, hands: list[HandRecord]) -> str:
    """A file of which the winnings of the first hand are impossible."""
    path = Path(f"bad{ending}")
    wrong = dataclasses.replace(hands[0], won=tuple(chips + 1 for chips in hands[0].won))
    if ending == ".db":
        with HandStore(path) as store:
            store.append([wrong, *hands[1:]], match="m")
    else:
        write_hands(path, hands)
        text = path.read_text()
        if ending == ".log":
            line = next(line for line in text.splitlines() if line.startswith("STATE"))
            kind, number, betting, cards, won, names = line.split(":")
            other = "|".join(str(float(chips) + 5) for chips in won.split("|"))
            path.write_text(text.replace(line, ":".join([kind, number, betting, cards, other, names]), 1))
        else:
            line = next(line for line in text.splitlines() if line.startswith("finishing_stacks"))
            stacks = [stack + 1 for stack in json.loads(line.partition("=")[2])]
            path.write_text(text.replace(line, f"finishing_stacks = {stacks}", 1))
    return str(path)


SAYS = {  # bad hands of sites are in test_site_text.py
    ".db": "bad.db, hand 0 of match 'm': ",
    ".phhs": "bad.phhs, line 1, hand 1: ",
    ".log": "bad.log, line 2: ",
}


@pytest.mark.parametrize("ending", SAYS)
def test_one_rule_for_every_reader(ending, capsys):
    hands = some_hands("holdem", 30)
    path = with_a_bad_hand(ending, hands)
    commands = [
        *(["history", "convert", path, f"out{other}"] for other in ENDINGS),
        ["history", "show", path],
    ]
    before = files()
    for words in commands:
        code, out, err = felt(capsys, *words)
        assert (code, out) == (2, ""), words
        assert err.startswith(f"felt: {SAYS[ending]}")
        assert "the rules" in err
        assert files() == before
    with pytest.raises(FileError, match=SAYS[ending]):
        list(read_hands(path))
    code, out, err = felt(capsys, "history", "check", path)
    assert (code, err) == (1, "")
    assert SAYS[ending].partition(", ")[2] in out
    assert out.endswith("30 hands, 1 of them bad\n")
    for words in commands:
        code, out, err = felt(capsys, *words, "--skip-bad")
        assert code == 0, words
        assert err.startswith(f"felt: 1 bad hand was skipped; the first: {SAYS[ending]}")
    for other in ENDINGS:
        assert list(read_hands(f"out{other}")) == hands[1:]
    skipped = []
    assert list(read_hands(path, skip=skipped.append)) == hands[1:]
    assert [str(error).startswith(SAYS[ending]) for error in skipped] == [True]
    assert json.loads(felt(capsys, "history", "convert", path, "b.db", "--skip-bad", "--json")[1]) == {
        **{"file": "b.db", "hands": 29, "skipped": 1}
    }


@pytest.mark.parametrize("ending", SAYS)
def test_models_are_not_fitted_to_bad_hands(ending, capsys):
    """PHH has only hold'em: there the bad hand is found before the others are those of another game."""
    path = with_a_bad_hand(ending, some_hands("holdem" if ending == ".phhs" else "kuhn", 40))
    for chosen in (["fit", path, "--out", "model"], ["score", path]):
        words = ["model", *chosen, "--player", "player0", "--kind", "frequencies", "--game", "kuhn"]
        code, out, err = felt(capsys, *words)
        assert (code, out) == (2, "")
        assert err.startswith(f"felt: {SAYS[ending]}")
        assert ending == ".phhs" or chosen[0] == "score" or not Path("model").exists()
        code, _, err = felt(capsys, *words, "--skip-bad")
        assert code == (2 if ending == ".phhs" else 0)
        assert f"1 bad hand was skipped; the first: {SAYS[ending]}" in err


def test_a_response_refuses_bad_hands_too(capsys):
    path = with_a_bad_hand(".log", some_hands("kuhn", 40))
    words = ["respond", "kuhn", "--model", "always-call", "--each", "--confidence", "0-10-linear"]
    words += ["--hands", path, "--player", "player0", "--out", "counter"]
    code, _, err = felt(capsys, *words)
    assert code == 2
    assert err.startswith(f"felt: {SAYS['.log']}by the rules the winnings are")
    code, _, err = felt(capsys, *words, "--skip-bad")
    assert code == 0
    assert err.startswith("felt: 1 bad hand was skipped")
    assert "go with --confidence" in felt(capsys, *words[:4], "--skip-bad")[2]


def test_winnings_that_no_hidden_cards_explain_are_refused_in_logs():
    hand = next(hand for hand in some_hands("holdem", 50) if len(hand.dealt) == 9)
    write_hands("a.log", [hidden(hand, 0)])
    chips = [f"{5 * won:g}" for won in hand.won]
    text = Path("a.log").read_text().partition("SCORE")[0]
    Path("a.log").write_text(text.replace("|".join(chips), "1000|-1000"))
    with pytest.raises(FileError, match="whatever the hidden cards are"):
        list(read_hands("a.log"))


def test_two_records_of_winnings_must_agree():
    (hand,) = some_hands("holdem", 1)
    write_hands("a.phh", [hand])
    text = Path("a.phh").read_text()
    Path("b.phh").write_text(text + "winnings = [0, 0]\n")
    with pytest.raises(FileError, match="finishing_stacks and winnings contradict each other"):
        list(read_hands("b.phh"))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (r"[2]", "[3]", r"line 14: Table \[3\] follows \[1\]; the tables must be numbered without gaps"),
        (r"[2]", "[1]", r"Table \[1\] follows \[1\]"),
        (r"[2]", "[two]", "has its hands in numbered tables"),
        (r"[1]", "x = 1\n[1]", "has its hands in numbered tables"),
    ],
)
def test_tables_of_phh_that_are_missing_or_repeated(old, new, says):
    write_hands("a.phhs", some_hands("holdem", 3))
    Path("a.phhs").write_text(Path("a.phhs").read_text().replace(old, new))
    with pytest.raises(FileError, match=says):
        list(read_hands("a.phhs"))
    with pytest.raises(FileError, match=says):
        list(read_hands("a.phhs", skip=lambda error: None))


DAMAGE = [
    "DELETE FROM hands WHERE id > 30",
    "DELETE FROM hands WHERE id = 3",
    "DELETE FROM hands",
    "DELETE FROM total",
    "DELETE FROM sittings WHERE id = 2",
    "UPDATE hands SET sitting = 1 WHERE id = 35",
    "UPDATE hands SET sitting = 9 WHERE id = 35",
    "UPDATE hands SET number = 1.5 WHERE id = 35",
    "UPDATE hands SET won = x'' WHERE id = 35",
    "UPDATE hands SET id = -5 WHERE id = 40",
    "INSERT INTO hands (id) VALUES (0)",
    "UPDATE total SET hands = 39",
    'UPDATE sittings SET names = \'["x", "y"]\' WHERE id = 2',
    "UPDATE sittings SET names = '\"xy\"' WHERE id = 2",
    "UPDATE sittings SET names = '[1, 2]' WHERE id = 2",
    "UPDATE sittings SET match = NULL WHERE id = 2",
    "UPDATE sittings SET match = x'00' WHERE id = 2",
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_store_is_read_only_if_it_is_whole(damage, capsys):
    """Also where the hands that were asked for are not those that are damaged."""
    with HandStore("a.db") as store:
        store.append(some_hands("holdem", 20), match="first")
        store.append(some_hands("holdem", 20), match="second")
    with sqlite3.connect("a.db") as base:
        base.execute(damage)
    before = Path("a.db").read_bytes()
    for words in (
        *(
            ["convert", "a.db", f"out{ending}", *chosen]
            for ending in ENDINGS
            for chosen in ([], ["--match", "first"])
        ),
        ["check", "a.db"],
        ["check", "a.db", "--match", "first"],
        ["show", "a.db"],
        ["convert", "a.db", "out.db", "--skip-bad"],
    ):
        code, out, err = felt(capsys, "history", *words)
        assert (code, out) == (2, "")
        assert err.startswith("felt: a.db is damaged: ")
        assert files() == {"a.db"}
    fit = ["--player", "player0", "--kind", "frequencies", "--game", "kuhn", "--out", "model"]
    assert "a.db is damaged" in felt(capsys, "model", "fit", "a.db", *fit)[2]
    with HandStore("a.db") as store, pytest.raises(FileError, match="is damaged"):
        next(store.hands(match="first"))
    with HandStore("a.db") as store, pytest.raises(FileError, match="is damaged"):
        next(store.columns("player0"))
    assert Path("a.db").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("holdem", {"dealt": b"\xfe"}),
        ("holdem", {"actions": "x"}),
        ("holdem", {"won": b"123"}),
        ("leduc", {"dealt": b"{}"}),
        ("leduc", {"dealt": b"[1]"}),
        ("leduc", {"dealt": b"[" * 100_000}),
        ("leduc", {"actions": "nothing"}),
        ("leduc", {"actions": '"check"'}),
    ],
)
def test_a_store_with_forged_checksums_gets_one_sentence(name, change, capsys):
    with HandStore("a.db") as store:
        store.append(some_hands(name, 1))
        (sitting,) = store._sittings().values()
    with sqlite3.connect("a.db") as base:
        row = Row(*base.execute("SELECT number, dealt, actions, won FROM hands").fetchone())._replace(
            **change
        )
        base.execute(
            "UPDATE hands SET dealt = ?, actions = ?, won = ?, seal = ?", (*row[1:], seal_of(sitting, row))
        )
    code, out, err = felt(capsys, "history", "check", "a.db")
    assert (code, out) == (2, "")
    assert (
        err == "felt: a.db is damaged: hand 0 was changed, its cards, actions or winnings cannot be read.\n"
    )
    with HandStore("a.db") as store, pytest.raises(FileError, match="cannot be read"):
        store.hand(1)


def test_hands_that_are_added_later_are_verified_too():
    hands = some_hands("kuhn", 30)
    with HandStore("a.db") as store:
        store.append(hands[:10], match="a")
        assert list(store.hands(match="a")) == hands[:10]
        store.append(hands[10:], match="b")
        assert list(store.hands()) == hands
        assert list(store.hands(match="b")) == hands[10:]
        store.append(hands[:1], match="c")
        with sqlite3.connect("a.db") as base:
            base.execute("UPDATE hands SET number = 7 WHERE id = 31")
        with pytest.raises(FileError, match="a hand after the 30th was changed"):
            next(store.hands(match="a"))
        with sqlite3.connect("a.db") as base:
            base.execute("DELETE FROM hands WHERE id = 31")
            base.execute("DELETE FROM hands WHERE id = 3")
            base.execute("UPDATE total SET hands = 30")
        with pytest.raises(FileError, match="was changed while it was read"):
            list(store.hands(match="a"))


def test_a_store_keeps_the_order_of_its_matches(capsys):
    first, second = some_hands("kuhn", 3), some_hands("leduc", 3)
    with HandStore("a.db") as store:
        for one, other in zip(first, second, strict=True):
            store.append([one], match="x")
            store.append([other], match="y")
    assert felt(capsys, "history", "convert", "a.db", "b.db")[0] == 0
    with HandStore("a.db") as store, HandStore("b.db") as copy:
        assert list(copy.matched_hands()) == list(store.matched_hands())
    code, _, err = felt(capsys, "history", "convert", "a.db", "c.phhs")  # no hand is left out
    assert code == 2
    assert "PHH has no variant for kuhn" in err


@pytest.mark.parametrize("ending", [".phh", *ENDINGS])
def test_files_without_hands_are_told_and_left_alone(ending, capsys):
    path = Path(f"empty{ending}")
    path.touch()
    nothing = Path(f"nothing{ending}")
    if ending == ".db":
        HandStore(nothing).close()
    else:
        header = "# name/game/hands/seed x holdem.limit.2p.reverse_blinds.game 3 0\n"
        nothing.write_text(header if ending == ".log" else "# no hands\n")
    before = {each: each.read_bytes() for each in Path().iterdir()}
    for words in (["check"], ["show"], ["convert"]):
        for file, says in ((path, f"{path} is empty."), (nothing, str(nothing))):
            target = [f"target{'.db' if ending != '.db' else '.phhs'}"] if words == ["convert"] else []
            code, out, err = felt(capsys, "history", *words, str(file), *target)
            assert (code, out) == ((1, out) if out else (2, ""))
            assert says in err or out.endswith("1 of them bad\n")
            assert "by the rules" not in out
            assert {each: each.read_bytes() for each in Path().iterdir()} == before
    with pytest.raises(FileError, match="is empty"):
        HandStore("empty.db" if ending == ".db" else path, create=False)


def test_a_refused_file_is_not_said_to_be_by_the_rules(capsys):
    hands = some_hands("kuhn", 30)
    write_hands("a.log", hands)
    text = Path("a.log").read_text()
    Path("a.log").write_text(text.replace("SCORE:", "SCORE:9|-9:x|y\nSCORE:"))
    code, out, err = felt(capsys, "history", "check", "a.log")
    assert (code, out) == (2, "")
    assert "a.log, line 32: x's hands sum to 0, not 9." in err
    Path("a.log").write_text(text[: text.index("SCORE") - 4])  # the dealer was killed while it wrote a hand
    code, out, _ = felt(capsys, "history", "check", "a.log")
    assert code == 1
    assert out == "line 31: it was cut off.\n30 hands, 1 of them bad\n"


def test_a_log_of_a_match_that_was_stopped_is_read_on_request(capsys):
    hands = some_hands("kuhn", 30)
    write_hands("a.log", hands)
    lines = Path("a.log").read_text().splitlines(keepends=True)
    Path("a.log").write_text("".join(lines[:21]))
    for words in (
        ["check", "a.log"],
        ["convert", "a.log", "a.db"],
        ["convert", "a.log", "a.db", "--skip-bad"],
    ):
        code, out, err = felt(capsys, "history", *words)
        assert (code, out) == (2, "")
        assert err == "felt: a.log: the header announces 30 hands, but the match has 20.\n"
        assert files() == {"a.log"}
    assert felt(capsys, "history", "check", "a.log", "--partial")[:2] == (0, "20 hands, all by the rules\n")
    assert felt(capsys, "history", "convert", "a.log", "a.db", "--partial")[0] == 0
    assert list(read_hands("a.db")) == list(read_hands("a.log", partial=True)) == hands[:20]
    Path("a.log").write_text(lines[0])
    assert felt(capsys, "history", "check", "a.log", "--partial")[2] == "felt: a.log has no hands.\n"


def test_lines_of_a_log_around_a_bad_one(capsys):
    """After a line that is skipped, sums and numbers of hands are not compared, but repeats are found."""
    hands = some_hands("kuhn", 10)
    write_hands("a.log", hands)
    lines = Path("a.log").read_text().splitlines(keepends=True)
    lines[4] = "STATE:3:x\n"
    Path("a.log").write_text("".join(lines))
    skipped = []
    assert list(read_hands("a.log", skip=skipped.append)) == hands[:3] + hands[4:]
    assert [error.place for error in skipped] == ["line 5"]
    Path("a.log").write_text("".join([*lines[:8], lines[7], *lines[8:]]))
    assert list(read_hands("a.log", skip=skipped.append)) == hands[:3] + hands[4:]
    assert [error.place for error in skipped[1:]] == ["line 5", "line 9"]
    Path("a.log").write_text("".join(lines).replace("kuhn.limit.2p.game", "other.game"))
    with pytest.raises(FileError, match=r"line 1: the game 'other\.game' is not known"):
        list(read_hands("a.log", skip=skipped.append))


def test_the_game_of_a_log_can_be_given(capsys):
    hands = some_hands("holdem(bets=3)", 30)
    write_hands("a.log", hands)
    assert list(read_hands("a.log")) == hands
    text = Path("a.log").read_text()
    Path("my.game").write_text(definition_of(load_game("holdem(bets=3)")).definition.text)
    Path("b.log").write_text(text.replace("holdem(bets=3)", "my.game"))
    Path("c.log").write_text(text.partition("\n")[2])
    for path in ("b.log", "c.log"):
        for words in (
            ["check", path],
            ["convert", path, "x.phhs"],
            ["check", path, "--definition", "no.game"],
        ):
            code, out, err = felt(capsys, "history", *words)
            assert (code, out) == (2, "")
            assert "definition" in err
            assert not Path("x.phhs").exists()
        for definition in ("my.game", "holdem(bets=3)"):
            target = f"{path}{definition}.phhs"
            options = ["--definition", definition]
            assert felt(capsys, "history", "check", path, *options)[0] == 0
            assert felt(capsys, "history", "show", path, *options)[0] == 0
            assert felt(capsys, "history", "convert", path, target, *options)[0] == 0
            assert list(read_hands(target)) == hands
    err = felt(capsys, "history", "check", "b.logmy.game.phhs", "--definition", "my.game")[2]
    assert err == "felt: --definition and --partial are for files that end in .log.\n"
    err = felt(capsys, "history", "check", "a.log", "--skip-bad")[2]
    assert err == "felt: `felt history check` lists all bad hands; leave out --skip-bad.\n"


def test_a_model_is_fitted_to_a_log_whose_game_is_given(capsys):
    write_hands("a.log", some_hands("kuhn", 40))
    Path("a.log").write_text(Path("a.log").read_text().partition("\n")[2])
    words = ["model", "fit", "a.log", "--player", "player0", "--kind", "frequencies", "--game", "kuhn"]
    assert "give its definition" in felt(capsys, *words, "--out", "model")[2]
    assert felt(capsys, *words, "--out", "model", "--definition", "kuhn")[0] == 0


def test_hands_that_a_format_cannot_express_exactly_are_refused(capsys):
    """Winnings off by less than the tolerance of the check."""
    hand = played(load_game("holdem"), random.Random(0))
    almost = dataclasses.replace(hand, won=(hand.won[0] + 2e-7, hand.won[1] - 2e-7))
    assert check_record(almost) is None
    write_hands("a.db", [almost])
    assert list(read_hands("a.db")) == [almost]
    for ending, says in ((".phhs", "not a whole number of half chips"), (".log", "cannot express hand 0")):
        code, _, err = felt(capsys, "history", "convert", "a.db", f"b{ending}")
        assert code == 2
        assert says in err
        assert files() == {"a.db"}


def test_a_failure_while_writing_names_the_file_and_leaves_none(monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for ending in ENDINGS:
        with monkeypatch.context() as patch:
            patch.setattr("openfelt.arena.hand_files.os.fsync", full)
            with pytest.raises(FileError, match=rf"^a{ending} could not be written \(No space left"):
                write_hands(f"a{ending}", some_hands("holdem", 3))
        assert files() == set()
    with pytest.raises(FileError, match=r"^nowhere/a\.db could not be written"):
        write_hands("nowhere/a.db", some_hands("holdem", 3))
