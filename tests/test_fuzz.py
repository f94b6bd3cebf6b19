"""A short run of the fuzzer (docs/robustness.md), and tests of the fuzzer itself."""

import json
from random import Random

import numpy as np
import pytest
from fuzz import __main__ as command
from fuzz.folder_mutations import sealed
from fuzz.json_mutations import mutate_json
from fuzz.mutations import mutate_any
from fuzz.runner import Budget, Summary, run_target
from fuzz.target import ACCEPTED, EQUAL, FINDING, REFUSED, Finding, Mutant, Target
from fuzz.targets.registry import TARGETS

from openfelt.core.errors import FeltError
from openfelt.core.files import load_folder, save_folder

MUTANTS = 40  # of each format


@pytest.mark.parametrize("name", TARGETS)
def test_every_mutant_is_refused_equal_or_explained(name, tmp_path):
    target = TARGETS[name](tmp_path)
    target.prepare()
    found = run_target(target, Budget(seed=0, first=0, count=MUTANTS, seconds=float("inf")))
    assert not found.examples
    assert found.mutants == MUTANTS
    assert found.refused + found.equal + found.accepted == MUTANTS


class WordTarget(Target):
    """A reader of one word, with every kind of fault."""

    name = "word"

    def prepare(self):
        self.add({"word": b"good"})

    def mutate(self, random, number):
        return Mutant(
            {"word": random.choice((b"good", b"bad", b"better", b"worse", b"crash", b"stop"))}, "", 0
        )

    def read(self, mutant):
        word = mutant.files["word"]
        if word == b"bad":
            raise FeltError("It is bad.")
        if word == b"crash":
            raise KeyError(word)
        while word == b"stop":
            pass
        return word

    def rule(self, mutant, content):
        if content == b"worse":
            raise Finding("nobody said that")
        return "a better word"


@pytest.mark.parametrize(
    ("word", "kind", "reason"),
    [
        (b"good", EQUAL, ""),
        (b"bad", REFUSED, "It is bad."),
        (b"better", ACCEPTED, "a better word"),
        (b"worse", FINDING, "nobody said that"),
        (b"crash", FINDING, "KeyError: b'crash'"),
        (b"stop", FINDING, "it took more than 0.1 seconds"),
    ],
)
def test_verdicts(word, kind, reason, tmp_path):
    target = WordTarget(tmp_path)
    target.prepare()
    assert target.judge(Mutant({"word": word}, "", 0), limit=0.1) == (kind, reason)


def test_a_mutant_depends_on_its_number_alone(tmp_path):
    target = WordTarget(tmp_path)
    target.prepare()
    mutants = [target.mutant(1, number).files["word"] for number in range(50)]
    assert mutants[30:] == [target.mutant(1, number).files["word"] for number in range(30, 50)]
    assert len(set(mutants)) == 6
    assert mutants != [target.mutant(2, number).files["word"] for number in range(50)]


def test_findings_are_saved_with_their_files(tmp_path):
    target = WordTarget(tmp_path)
    target.prepare()
    numbers = [
        number for number in range(60) if target.mutant(1, number).files["word"] in (b"worse", b"good")
    ]
    for number in numbers:
        summary = run_target(target, Budget(1, number, 1, 60.0), tmp_path)
        worse = target.mutant(1, number).files["word"] == b"worse"
        assert (summary.findings, summary.equal) == (worse, not worse)
        assert (tmp_path / f"word-{number}" / "files" / "word").exists() == worse
    assert "FINDINGS: nobody said that" in command.table([summary_of(target, numbers)])


def summary_of(target, numbers):
    total = Summary("word")
    for number in numbers:
        total.add(run_target(target, Budget(1, number, 1, 60.0)))
    return total


def test_mutations_change_most_samples():
    random, text = Random(3), b'{"a": [1, 2.5, "b"], "c": null}\n'
    changed = [mutate_any(random, text)[0] for _ in range(300)]
    assert sum(each != text for each in changed) > 250
    documents = [mutate_json(random, json.loads(text))[0] for _ in range(300)]
    assert sum(each != json.loads(text) for each in documents) > 250


def test_a_manifest_that_is_sealed_again_passes_the_checksum(tmp_path):
    save_folder(tmp_path / "x", "policy", {"a": np.arange(3)}, {"game": "kuhn"})
    path = tmp_path / "x" / "manifest.json"
    document = json.loads(path.read_bytes())
    path.write_bytes(sealed({**document, "game": "leduc"}))
    assert load_folder(tmp_path / "x", "policy")[1]["game"] == "leduc"
