"""Policies: sampling, mixing, saving, and files that are not what they should be."""

from __future__ import annotations

import errno
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from bridge import as_profile
from slow_twin import SlowGame

import openfelt as felt
from openfelt.core import files
from openfelt.policy.policy import join_seats


def test_by_words():
    policy = felt.SequenceLP("kuhn").run().policy
    assert policy.at(1, "K bet") == pytest.approx({"pass": 0.0, "bet": 1.0})
    with pytest.raises(felt.GameError, match="no infoset 'Z'"):
        policy.at(0, "Z")


def test_sampling_follows_the_probabilities():
    policy = felt.random_policy("leduc", 1)
    generator = np.random.default_rng(2)
    drawn = Counter(policy.sample(1, "K bet", generator) for _ in range(20_000))
    for action, probability in policy.at(1, "K bet").items():
        assert drawn[action] / 20_000 == pytest.approx(probability, abs=0.02)


def test_greedy():
    policy = felt.random_policy("leduc", 1)
    greedy = policy.greedy()
    for row in range(policy.tree.num_rows):
        assert greedy.row(row)[np.argmax(policy.row(row))] == 1.0


def test_a_mixture_is_worth_the_mixed_values():
    """Who draws one of two strategies before the game gets the mean of their values, against anyone."""
    a, b, other = (felt.random_policy("leduc", seed) for seed in (1, 2, 3))
    mixed = felt.mixture([a, b], [0.3, 0.7])
    for player in (0, 1):

        def value(policy, player=player):
            profile = [policy, other] if player == 0 else [other, policy]
            return felt.expected_values(join_seats(profile))[player]

        assert value(mixed) == pytest.approx(0.3 * value(a) + 0.7 * value(b), abs=1e-12)


def test_mixture_refuses_nonsense():
    kuhn, leduc = felt.uniform_policy("kuhn"), felt.uniform_policy("leduc")
    for policies, weights in (([], []), ([kuhn], [1.0, 2.0]), ([kuhn], [-1.0]), ([kuhn, leduc], [1.0, 1.0])):
        with pytest.raises(felt.FeltError):
            felt.mixture(policies, weights)


def test_tables_must_be_policies():
    tree = felt.compile_game("kuhn")
    for table in (np.ones(3), np.full(24, 0.4), np.full(24, np.nan), np.tile([2.0, -1.0], 12)):
        with pytest.raises(felt.FeltError):
            felt.TabularPolicy(tree, table)


@pytest.mark.parametrize("game", ["kuhn(pot=8)", "goofspiel(4)", "leduc(players=3)"])
def test_save_and_load(game, tmp_path):
    policy = felt.random_policy(game, 3)
    felt.save_policy(policy, tmp_path / "policy")
    loaded = felt.load_policy(tmp_path / "policy")
    assert loaded.tree.game == game
    assert loaded.probabilities.tobytes() == policy.probabilities.tobytes()


def test_values_of_a_saved_policy(tmp_path):
    policy = felt.random_policy("kuhn", 3)
    felt.save_policy(policy, tmp_path)
    slow = SlowGame(felt.load_game("kuhn"))
    values = slow.values(slow.root, as_profile(felt.load_policy(tmp_path)))
    assert felt.expected_values(policy) == pytest.approx(values)


def table_file(folder: Path) -> Path:
    return next(folder.glob("probabilities-*.npy"))


def edit_manifest(folder: Path, reseal: bool = False, **changes: object) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text()) | changes
    if reseal:
        manifest["seal"] = files._seal(manifest)
    path.write_text(json.dumps(manifest))


def replace_table(folder: Path, table: np.ndarray) -> None:
    """Another table with correct checksums all over."""
    path = table_file(folder)
    np.save(path, table, allow_pickle=True)
    checksum = files.file_checksum(path)
    path.rename(folder / f"probabilities-{checksum[:12]}.npy")
    entry = {"file": table_file(folder).name, "sha256": checksum}
    about = {"shape": list(table.shape), "dtype": str(table.dtype)}
    edit_manifest(folder, reseal=True, files={"probabilities": entry | about})


def edit_entry(folder: Path, **changes: object) -> None:
    """Another entry for the table, in a manifest that is sealed again."""
    entry = json.loads((folder / "manifest.json").read_text())["files"]["probabilities"]
    edit_manifest(folder, reseal=True, files={"probabilities": entry | changes})


def damage_header(folder: Path) -> None:
    """A header that numpy's parser cannot tokenise, with correct checksums."""
    replace_table(folder, np.ones(24))
    path = table_file(folder)
    path.write_bytes(path.read_bytes().replace(b"'shape'", b"'shape,"))
    checksum = files.file_checksum(path)
    path.rename(folder / f"probabilities-{checksum[:12]}.npy")
    edit_entry(folder, file=table_file(folder).name, sha256=checksum)


def cut_off(folder):
    path = table_file(folder)
    path.write_bytes(path.read_bytes()[:-20])


def edit_a_number(folder):
    path = table_file(folder)
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)


FAULTS = [
    (cut_off, "damaged"),
    (edit_a_number, "damaged"),
    (lambda folder: table_file(folder).unlink(), "missing"),
    (lambda folder: (folder / "manifest.json").write_text("{"), "damaged"),
    (lambda folder: (folder / "manifest.json").write_text("[]"), "damaged"),
    (lambda folder: (folder / "manifest.json").unlink(), "no policy"),
    (lambda folder: edit_manifest(folder, version=99), "newer"),
    (lambda folder: edit_manifest(folder, format="openfelt tree"), "not an 'openfelt policy'"),
    (lambda folder: edit_manifest(folder, game="leduc"), "changed after it was saved"),
    (lambda folder: edit_manifest(folder, reseal=True, game="leduc"), "does not match leduc"),
    (lambda folder: edit_manifest(folder, reseal=True, game="kuhn(pot=8)"), "does not match kuhn(pot=8)"),
    (lambda folder: edit_manifest(folder, reseal=True, game="kohn"), "did you mean 'kuhn'"),
    (lambda folder: edit_manifest(folder, reseal=True, files={}), "not a complete policy"),
    (lambda folder: replace_table(folder, np.full(24, 3.0)), "damaged"),
    (lambda folder: replace_table(folder, np.ones(3)), "damaged"),
    (lambda folder: replace_table(folder, np.array([{"a": 1}], dtype=object)), "Python objects"),
    (lambda folder: replace_table(folder, np.array(["0.5"] * 24)), "does not hold the numbers"),
    (lambda folder: replace_table(folder, np.full(24, 0.5j)), "does not hold the numbers"),
    (lambda folder: replace_table(folder, np.full(24, 0.5, ">f8")), "does not hold the numbers"),
    (damage_header, "cannot be read"),
    (lambda folder: edit_entry(folder, shape=[25]), "does not hold the numbers"),
    (lambda folder: edit_entry(folder, dtype="float32"), "does not hold the numbers"),
    (lambda folder: edit_entry(folder, file=7), "list of arrays"),
    (lambda folder: edit_entry(folder, file=["a"]), "list of arrays"),
    (lambda folder: edit_entry(folder, file="/dev/zero"), "list of arrays"),
    (lambda folder: edit_entry(folder, file="../policy/manifest.json"), "list of arrays"),
    (lambda folder: edit_entry(folder, sha256=None), "list of arrays"),
    (lambda folder: edit_manifest(folder, reseal=True, files={"probabilities": "x.npy"}), "list of arrays"),
    (lambda folder: edit_manifest(folder, reseal=True, files=[]), "list of arrays"),
    (lambda folder: edit_manifest(folder, reseal=True, files={"../x": {}}), "list of arrays"),
    (lambda folder: (folder / "manifest.json").write_text("[" * 100_000), "damaged"),
]


@pytest.mark.parametrize(("harm", "says"), FAULTS)
def test_bad_files_get_one_sentence(harm, says, tmp_path):
    folder = tmp_path / "policy"
    felt.save_policy(felt.uniform_policy("kuhn"), folder)
    harm(folder)
    with pytest.raises(felt.FeltError) as caught:
        felt.load_policy(folder)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_of_others_are_never_touched(tmp_path):
    for name in ("mine.npy", "results-january_2024.npy", "mine.npy.part"):
        folder = tmp_path / f"with {name}"
        folder.mkdir()
        (folder / name).write_text("mine")
        with pytest.raises(felt.FileError, match="holds other files"):
            felt.save_policy(felt.uniform_policy("kuhn"), folder)
        assert [path.read_text() for path in folder.iterdir()] == ["mine"]
    (tmp_path / "mine.npy").write_text("mine")
    felt.save_policy(felt.uniform_policy("kuhn"), tmp_path / "policy")
    (tmp_path / "policy" / "mine.npy").write_text("mine")
    felt.save_policy(felt.random_policy("kuhn", 1), tmp_path / "policy")
    assert (tmp_path / "policy" / "mine.npy").read_text() == "mine"
    assert len(list((tmp_path / "policy").glob("probabilities-*.npy"))) == 1
    with pytest.raises(felt.FileError, match="is a file"):
        felt.save_policy(felt.uniform_policy("kuhn"), tmp_path / "mine.npy")
    with pytest.raises(felt.FileError, match="not overwritten"):
        felt.CFR("kuhn").save(tmp_path / "policy")


def test_what_a_killed_save_left_is_cleared(tmp_path):
    (tmp_path / "probabilities-0123456789ab.npy").write_text("half")
    (tmp_path / "probabilities.npy.part").write_text("half")
    felt.save_policy(felt.uniform_policy("kuhn"), tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_policy_of_ones_own_game(tmp_path):
    tree = felt.compile_game("kuhn(pot=8)")
    felt.save_policy(felt.uniform_policy("kuhn(pot=8)"), tmp_path)
    assert felt.load_policy(tmp_path, game=felt.load_game("kuhn(pot=8)")).tree is tree
    with pytest.raises(felt.FileError, match="does not match kuhn"):
        felt.load_policy(tmp_path, game="kuhn")


@pytest.mark.parametrize("writes", [0, 1])
def test_a_full_disk_leaves_the_old_policy(writes, tmp_path, monkeypatch):
    """The disk fills up while the table (0) or the manifest (1) is written."""
    old = felt.random_policy("kuhn", 1)
    felt.save_policy(old, tmp_path)
    real, count = files.os.fsync, iter(range(100))

    def full(descriptor):
        if next(count) == writes:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(felt.FileError, match=r"No space left on device.*unchanged"):
        felt.save_policy(felt.random_policy("kuhn", 2), tmp_path)
    monkeypatch.undo()
    assert felt.load_policy(tmp_path).probabilities.tobytes() == old.probabilities.tobytes()
    assert not list(tmp_path.glob("*.part"))
