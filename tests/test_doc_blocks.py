"""Every complete command and every Python block of the documentation runs, page by page, with small budgets.

Pages run in a folder of their own, blocks in their order: what one writes, later ones read. Exact values of
hold'em are those of a deck of nine cards, and buckets are made up.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import PAGES, ROOT, shortened, steps
from try_wheel import load_table

import openfelt as felt
from openfelt.arena.acpc.competition_game import definition_of
from openfelt.cards.public_cards import Deck
from openfelt.cli.app import main

ELSEWHERE = {  # what other tests run, or what is not ours to run
    r"--on ": "tests/test_cluster.py works on clusters of several nodes",
    r"^felt acpc": "tests/test_acpc_dealer.py plays over sockets",
    r"--solver cfr-br": "tests/test_cfr_br.py trains on small decks; on a full deck a CPU takes minutes",
    r"runs/old": "needs a policy of an earlier commit",
    r"--boards all": "tests/test_spot_command.py solves several boards",
    r"^felt study run (?!.*--quick)": "tests/test_studies.py runs studies with small budgets",
    r"^felt study run (nfsp|policy|deep)": "tests/test_studies.py runs them; --quick takes minutes",
    r"^felt train ledoc": "shows an error",
    r"^felt drill": "tests/test_drill_command.py answers drills",
    r"^felt review": "tests/test_review_hands.py reviews files of several kinds",
    r"resolver": "tests/test_resolver.py plays it, tests/test_resolver_exploitability.py measures it",
    r"flop_holdem|runs/flop": "tests/test_flop_holdem.py trains and measures it; its tables take 2 GB",
    r"phantom": "tests/test_factored_games.py trains on small boards; this one takes a minute to compile",
    r"network\.py:": "tests/test_network_policies.py measures and plays networks",
}
BOT = """
import openfelt as felt

class MyBot(felt.Bot):
    def act(self, view, dice, clock):
        return view.passive
"""


CASES = [page for page in PAGES if any(steps(page.read_text(encoding="utf-8")))]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """What pages take for granted: runs, hand histories, a bot, the curve of another program."""
    folder = tmp_path_factory.mktemp("prepared")
    with contextlib.chdir(folder):
        prepare()
    return folder


def prepare() -> None:
    for solver in ("pcfr+", "cfr+", "cfr", "uct"):
        assert main(["train", "leduc", "--solver", solver, "--iterations", "200", "--json"]) == 0
    felt.save_policy(felt.rule_policy("holdem", "always-call"), "runs/hard-to-exploit")
    felt.match("ace1", "poki-like", hands=60, seed=1, history="later.db")
    hands = list(felt.read_hands("later.db"))
    for name in ("match.log", "other.log", "damaged.phhs"):
        felt.write_hands(name, hands)
    text = Path("damaged.phhs").read_text(encoding="utf-8")
    Path("damaged.phhs").write_text(text.replace("cc", "zz", 1), encoding="utf-8")
    Path("my.game").write_text(definition_of(felt.load_game("holdem"), 5).definition.text, encoding="utf-8")
    shutil.copy(ROOT / "tests/data/site_text/pokerstars.txt", "pokerstars.txt")
    Path("my_bot.py").write_text(BOT, encoding="utf-8")
    Path("open_spiel.csv").write_text(
        "iterations,seconds,nash_conv,exploitability\n1,0.1,2,1\n9,1,0.2,0.1\n", encoding="utf-8"
    )


@pytest.mark.slow
@pytest.mark.made_up_buckets
@pytest.mark.parametrize("page", CASES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_blocks_of_a_page_run(page, prepared, tmp_path, monkeypatch, capsys):
    folder, small = tmp_path / "page", Deck(3, 3)
    shutil.copytree(prepared, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("openfelt.measure.holdem.exploitability.Deck", lambda: small)
    scope: dict[str, object] = {}
    for kind, body in steps(page.read_text(encoding="utf-8")):
        if kind == "python":
            if page != ROOT / "README.md":  # tests/test_docs.py runs it with true buckets
                exec(compile(body.replace('device="cuda"', 'device="cpu"'), str(page), "exec"), scope)
        elif not any(re.search(pattern, body) for pattern in ELSEWHERE):
            run(shortened(body), capsys)


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    if words[1] == "play":
        command = [sys.executable, "-m", "openfelt", *words[1:]]
        if "--terminal" in words:
            subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, timeout=120
            )
        else:
            load_table([word for word in command if word != "--no-browser"])
        return
    if words[1] in ("train", "respond") and "--out" in words and "--resume" not in words:
        shutil.rmtree(words[words.index("--out") + 1], ignore_errors=True)  # of an earlier example
    assert main(words[1:]) == 0, f"{' '.join(words)}: {capsys.readouterr().err}"


def test_every_exception_is_used():
    text = "\n".join(body for page in PAGES for _, body in steps(page.read_text(encoding="utf-8")))
    unused = [pattern for pattern in ELSEWHERE if not re.search(pattern, text, re.MULTILINE)]
    assert not unused
