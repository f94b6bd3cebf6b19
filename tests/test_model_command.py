"""`felt model`: what it prints and writes, and one sentence for whatever cannot be."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from habits import Habit, play

from openfelt.cli.app import main
from openfelt.hands.phh import write_phh
from openfelt.hands.record import HIDDEN
from openfelt.hands.store import HandStore
from openfelt.opponents.models.files import load_model

PLAYER = Habit(lambda moment: (moment.words, moment.hand), 7)


@pytest.fixture(scope="module")
def records():
    return play("leduc", (PLAYER, PLAYER), 400, 1)


@pytest.fixture(scope="module")
def histories(records, tmp_path_factory):
    path = tmp_path_factory.mktemp("histories") / "hands.db"
    with HandStore(path) as store:
        store.append(records, match="m")
    return path


def felt(capsys, *words):
    code = main([*map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


def refused(capsys, *words):
    """The one sentence."""
    code, out, err = felt(capsys, *words)
    assert code == 2
    assert not out
    assert err.startswith("felt: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


@pytest.fixture
def fitted(histories, tmp_path, capsys):
    def fit(kind):
        folder = tmp_path / kind
        words = ["--player", "ann", "--kind", kind, "--game", "leduc", "--out", folder]
        assert felt(capsys, "model", "fit", histories, *words)[0] == 0
        return folder

    return fit


@pytest.mark.parametrize("kind", ["tally", "trees", "frequencies"])
def test_fit_show_score(kind, fitted, histories, capsys):
    folder = fitted(kind)
    model = load_model(folder, "leduc")
    code, out, _ = felt(capsys, "model", "show", folder)
    assert code == 0
    assert out.startswith(f"{kind} of ann in leduc, learned from 400 hands")
    assert model.describe() in out
    code, out, _ = felt(capsys, "model", "score", folder, histories, "--json")
    scores = json.loads(out)
    assert code == 0
    assert scores["scored"] == 400
    assert [each["model"] for each in scores["scores"]] == [kind, "frequencies", "uniform"]
    assert scores["scores"][1]["action_loss"][0] < scores["scores"][2]["action_loss"][0]
    code, out, _ = felt(capsys, "model", "score", folder, histories)
    assert code == 0
    assert f"{scores['scores'][0]['action_loss'][0]:.4f}" in out
    shown = json.loads(felt(capsys, "model", "show", folder, "--json")[1])
    assert shown["text"] == model.describe()


def test_held_out_hands_are_the_last(histories, records, tmp_path, capsys):
    """As if the first had been learned from, and the model scored on the others."""
    kind = ["--player", "ann", "--game", "leduc", "--kind", "trees"]
    _, out, _ = felt(capsys, "model", "score", histories, *kind, "--held-out", "0.25", "--json")
    held = json.loads(out)
    assert (held["learned"], held["scored"]) == (300, 100)
    folder, rest = tmp_path / "m", tmp_path / "rest.db"
    assert felt(capsys, "model", "fit", histories, *kind, "--hands", "300", "--out", folder)[0] == 0
    with HandStore(rest) as store:
        store.append(records[300:])
    _, out, _ = felt(capsys, "model", "score", folder, rest, "--json")
    assert json.loads(out)["scores"] == held["scores"]


def test_pictures(fitted, histories, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    folder = fitted("tally")
    code, out, _ = felt(capsys, "model", "score", folder, histories, "--plot", tmp_path / "c.png")
    assert code == 0
    assert "drawn in" in out
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert "no trees to draw" in refused(capsys, "model", "show", folder, "--plot", tmp_path / "t.png")
    assert ".png" in refused(capsys, "model", "show", folder, "--plot", tmp_path / "t.gif")


def test_folders_of_files_are_read(records, tmp_path, capsys):
    holdem = play("holdem", (PLAYER, PLAYER), 6, 2)
    (tmp_path / "h" / "more").mkdir(parents=True)
    write_phh(tmp_path / "h" / "a.phhs", holdem[:4])
    write_phh(tmp_path / "h" / "more" / "b.phhs", holdem[4:])
    (tmp_path / "h" / "notes.txt").write_text("nothing")
    words = ["--player", "ann", "--kind", "frequencies", "--out", tmp_path / "m", "--json"]
    code, out, _ = felt(capsys, "model", "fit", tmp_path / "h", *words)
    assert code == 0
    assert json.loads(out)["hands"] == 6
    (tmp_path / "none").mkdir()
    assert "has no hand histories" in refused(capsys, "model", "fit", tmp_path / "none", *words)


def test_what_cannot_be_is_one_sentence(histories, fitted, records, tmp_path, capsys):
    fit = ["model", "fit", histories, "--out", tmp_path / "new"]
    ann = ["--player", "ann", "--game", "leduc"]
    tally = ["--kind", "tally"]
    assert "did you mean 'bob'" in refused(capsys, *fit, "--player", "bobb", "--game", "leduc", *tally)
    assert "did you mean 'tally'" in refused(capsys, *fit, *ann, "--kind", "talley")
    assert "only of leduc" in refused(capsys, *fit, "--player", "ann", *tally)
    assert "bluff" in refused(capsys, *fit, "--player", "ann", "--game", "bluff(1,1,6)", *tally)
    assert "--player" in refused(capsys, *fit, *tally)
    assert "--kind" in refused(capsys, *fit, *ann)
    assert "There is no file" in refused(capsys, "model", "fit", tmp_path / "x.db", *fit[3:], *ann, *tally)
    assert "end in" in refused(capsys, "model", "fit", __file__, *fit[3:], *ann, *tally)
    assert not (tmp_path / "new").exists()
    folder = fitted("tally")
    assert "not of kuhn" in refused(capsys, "model", "score", folder, histories, "--game", "kuhn")
    assert "no player 'zoe'" in refused(capsys, "model", "score", folder, histories, "--player", "zoe")
    assert "held-out" in refused(capsys, "model", "score", folder, histories, "--held-out", "0.5")
    assert "0 and 1" in refused(capsys, "model", "score", histories, *ann, *tally, "--held-out", "2")
    assert "too few" in refused(capsys, "model", "score", histories, *ann, *tally, "--hands", "1")
    assert "needs a MODEL" in refused(capsys, "model", "score", folder)


def test_files_that_are_empty_or_other_things(histories, fitted, tmp_path, capsys):
    ann = ["--player", "ann", "--game", "leduc", "--kind", "tally"]
    for name in ("empty.db", "empty.phhs", "empty.log"):
        (tmp_path / name).touch()
        words = refused(capsys, "model", "fit", tmp_path / name, *ann, "--out", tmp_path / "new")
        assert f"{name} is empty" in words
        assert (tmp_path / name).stat().st_size == 0
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    assert "holds other files" in refused(capsys, "model", "fit", histories, *ann, "--out", other)
    assert "is a file" in refused(capsys, "model", "fit", histories, *ann, "--out", other / "notes.txt")
    assert "no model" in refused(capsys, "model", "show", other)
    folder = fitted("tally")
    array = next(folder.glob("counts-*.npy"))
    array.write_bytes(array.read_bytes()[:-8])
    assert "damaged" in refused(capsys, "model", "show", folder)
    assert "damaged" in refused(capsys, "model", "score", folder, histories)
    array.unlink()
    assert "missing" in refused(capsys, "model", "show", folder)


def test_histories_without_cards_or_opponents(records, tmp_path, capsys):
    ann = ["--player", "ann", "--game", "leduc", "--out", tmp_path / "new"]

    def stored(name, hands):
        with HandStore(tmp_path / name) as store:
            store.append(hands)
        return tmp_path / name

    hidden = [
        replace(record, dealt=(HIDDEN, HIDDEN, *record.dealt[2:])) for record in records if record.dealt[2:]
    ]
    path = stored("hidden.db", hidden)
    assert "cards are known in none" in refused(capsys, "model", "fit", path, *ann, "--kind", "tally")
    assert felt(capsys, "model", "fit", path, *ann, "--kind", "frequencies")[0] == 0
    folded = [record for record in records if "fold" in record.actions]
    path = stored("folded.db", folded)
    assert "cards are known in none" in refused(
        capsys, "model", "fit", path, *ann, "--kind", "trees", "--cards", "shown"
    )
    assert felt(capsys, "model", "fit", path, *ann, "--kind", "trees")[0] == 0
    code, out, _ = felt(capsys, "model", "score", tmp_path / "new", tmp_path / "hidden.db")
    assert code == 0
    assert "0 decisions with known cards" in out
