"""Matches: kernels, bots called in Python and a slow twin, hand by hand; winnings; and faults."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import arena_bots
import numpy as np
import pytest
from arena_bots import LIMIT
from slow_match import SlowMatch, by_holdem_policy, by_rule, by_table, line_of, seen_by
from speed import slow

import openfelt as felt
from openfelt.arena import decision_stats, holdem_table, table, time_limit
from openfelt.arena.hand_kernels import deal_block
from openfelt.arena.match import match
from openfelt.arena.match_blocks import DUPLICATE, FRESH, Contest, Setup
from openfelt.bots.policy_bot import HoldemBot, TreeBot
from openfelt.bots.registry import load_bot
from openfelt.bots.rule_bot import RuleBot
from openfelt.cards.deck import BOARD_CARDS
from openfelt.cards.evaluator import hand_value
from openfelt.games.compile.compiler import compile_any
from openfelt.games.holdem import Holdem
from openfelt.measure.exploitability import values_against
from openfelt.policy.holdem import quantised
from openfelt.policy.rules import rule_policy

TWO, THREE = "holdem(buckets='ehs:2')", "holdem(players=3,buckets='ehs:2')"
OWN = str(Path(__file__).parent / "arena_bots.py")
ALL = dict.fromkeys(("fold", "check", "call", "bet", "raise"), 1.0)
WORDS = {
    "always-fold": {"fold": 1.0, "check": 1.0},
    "always-call": {"call": 1.0, "check": 1.0},
    "always-raise": {"bet": 1.0, "raise": 1.0},
    "random": ALL,
    "probe": {word: 1.0 for word in ALL if word != "fold"},
}


@cache
def policy_of(game: str, seed: int):
    """Of random numbers in every row."""
    if not game.startswith("holdem"):
        return felt.random_policy(game, seed)
    tree = compile_any(game)
    draws = np.random.default_rng(seed).random(tree.num_slots, dtype=np.float32)
    return quantised(tree, draws**3)


def bot_of(game: str, word: str | int):
    """A rule by its name, or a random policy by its seed."""
    rules = felt.load_game(game)
    if isinstance(word, str):
        return RuleBot(word, rules)
    return (HoldemBot if isinstance(rules, Holdem) else TreeBot)(policy_of(game, word), rules)


def decider_of(game: str, word: str | int):
    is_holdem = game.startswith("holdem")
    if isinstance(word, str):
        return by_rule(WORDS[word], is_holdem)
    return (by_holdem_policy if is_holdem else by_table)(policy_of(game, word))


def contest_of(game: str, words, *, dealing: str, compiled: bool, seed: int = 3) -> Contest:
    """Equal words are one participant."""
    made = {word: bot_of(game, word) for word in dict.fromkeys(words)}
    setup = Setup(felt.load_game(game).name, tuple(map(str, words)), seed, dealing, compiled=compiled)
    contest = Contest(setup, [made[word] for word in words])
    assert contest.compiled == compiled
    return contest


def facts_of(result):
    """All that does not depend on clocks; text, so that nan equals nan."""
    reported = [
        (score.name, score.hands, score.won, score.plain, score.by_seat, score.style, score.stats.faults)
        for score in result.scores
    ]
    return repr((result.game, result.dealing, result.deals, result.hands, result.verdict, reported))


# Hands: kernels, bots that are asked, and the twin.

CASES = [
    (TWO, (1, 2), DUPLICATE, 100, 20),
    (TWO, (1, "probe"), FRESH, 100, 20),
    (TWO, ("always-raise", "random"), DUPLICATE, 100, 30),
    (TWO, ("always-fold", "always-call"), DUPLICATE, 30, 10),
    slow(THREE, (1, "random", "random"), DUPLICATE, 30, 8),
    slow(THREE, (1, "always-raise", "probe"), FRESH, 60, 12),
    ("leduc", (1, 2), DUPLICATE, 200, 30),
    ("leduc", (1, "always-raise"), FRESH, 100, 30),
    ("leduc(players=3)", (1, 2, 2), DUPLICATE, 60, 20),
    ("kuhn", (1, 2), FRESH, 200, 30),
    ("kuhn(players=3)", (1, 2, 3), DUPLICATE, 60, 20),
    ("goofspiel(3)", (1, 2), DUPLICATE, 100, 20),
    ("bluff(1,1,4)", (1, 2), DUPLICATE, 100, 20),
]


@pytest.mark.parametrize(("game", "words", "dealing", "count", "few"), CASES, ids=str)
def test_kernels_bots_and_the_slow_twin_play_the_same_hands(game, words, dealing, count, few):
    fast = contest_of(game, words, dealing=dealing, compiled=True)
    asked = contest_of(game, words, dealing=dealing, compiled=False)
    played, plain = fast.play_hands(0, count)[0], asked.play_hands(0, count)[0]
    for name in played._fields:
        assert np.array_equal(getattr(played, name), getattr(plain, name)), name
    assert (played.style.sum() > 0) == isinstance(fast.game, Holdem)
    assert not any(sum(stats.faults.values()) for stats in asked.play_hands(0, 5)[1])
    # A block may begin anywhere.
    later = asked.play_hands(count // 3, 5)[0]
    assert np.array_equal(later.won, played.won[count // 3 : count // 3 + 5])

    twin = twin_of(game, words, dealing=dealing)
    for number, hands in enumerate(twin.deals(few)):
        for place, one in enumerate(hands):
            assert leaf_of(fast.tree, one.hand) == played.leaf[number, place]
            assert one.hand.payoffs == pytest.approx(played.won[number, place], abs=1e-12)
    assert len(set(played.leaf.ravel().tolist())) > 1


def twin_of(game: str, words, *, dealing: str, seed: int = 3) -> SlowMatch:
    names = list(dict.fromkeys(words))
    places = tuple(names.index(word) for word in words)
    deciders = [decider_of(game, name) for name in names]
    return SlowMatch(felt.load_game(game), places, deciders, seed=seed, duplicate=dealing == DUPLICATE)


def leaf_of(tree, hand) -> int:
    """Where the hand ends in the tree, by the numbers of its actions."""
    if isinstance(hand.game, Holdem):
        return tree.find_node(line_of(hand))
    node = 0
    for step in hand.steps:
        node = int(tree.nodes.first_child[node]) + step.number
    return node


@pytest.mark.parametrize(
    ("game", "words", "dealing"),
    [(TWO, (1, 2), DUPLICATE), (TWO, (2, "random"), FRESH), slow(THREE, ("random", "probe", "probe"), FRESH)],
    ids=str,
)
@pytest.mark.parametrize("compiled", [True, False])
def test_means_errors_and_styles_are_those_of_the_twin(game, words, dealing, compiled):
    twin = twin_of(game, words, dealing=dealing)
    deals = twin.deals(30)
    hands = sum(map(len, deals))
    made = {word: bot_of(game, word) for word in words}
    bots = [made[word] for word in words]
    result = match(*bots, game=game, hands=hands, seed=3, dealing=dealing, session=11, compiled=compiled)
    assert (result.deals, result.hands) == (30, hands)
    for participant, (mean, error) in enumerate(twin.estimates(deals)):
        score = result.scores[participant]
        assert score.plain.mean == pytest.approx(mean, abs=1e-12)
        assert score.plain.error == pytest.approx(error, rel=1e-9)
        style = score.style
        reported = style.seen_flops, style.early_aggression, style.late_aggression
        assert reported == pytest.approx(twin.style(deals, participant))
        seats = {seat: [] for seat in range(twin.game.players)}
        for one in (one for hands in deals for one in hands):
            for seat, who in enumerate(one.seating):
                if who == participant:
                    seats[seat].append(one.hand.payoffs[seat])
        assert score.by_seat == pytest.approx([np.mean(seats[seat]) for seat in sorted(seats)])


# What is won.


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("dealing", [DUPLICATE, FRESH])
def test_who_always_folds_loses_the_blinds(dealing, compiled):
    """Against a raise nothing is ever free: (1 + 2) / 2 chips, 750 mbb/h."""
    result = match(
        "always-fold", "always-raise", game=TWO, hands=60, dealing=dealing, compiled=compiled, seed=4
    )
    folding = result.scores[0]
    assert folding.plain.mean == -1.5
    assert result.amount(folding.plain).mean == -750.0
    assert folding.by_seat == (-2.0, -1.0)
    assert folding.style.seen_flops == 0.0
    assert dealing == FRESH or folding.won.error == 0.0
    assert abs(folding.won.mean + 1.5) <= 4 * folding.won.error


@pytest.mark.slow
def test_who_always_folds_loses_the_blinds_of_three():
    """The raiser wins them from both; of two who fold the dealer pays nothing."""
    result = match("always-fold", "always-fold", "always-raise", game=THREE, hands=90, dealing=DUPLICATE)
    folding, raising = result.scores
    assert folding.by_seat == pytest.approx((-1.0, -2.0, 0.0))
    assert folding.plain.mean == pytest.approx(-1.0)
    assert raising.plain.mean == pytest.approx(2.0)
    assert folding.hands == 2 * raising.hands


@pytest.mark.parametrize(
    ("game", "bot"), [(TWO, "random"), ("leduc", "random"), ("kuhn(players=3)", "probe")]
)
@pytest.mark.parametrize("dealing", [DUPLICATE, FRESH])
def test_copies_of_one_bot_win_nothing(game, bot, dealing):
    players = felt.load_game(game).players
    result = match(*[bot] * players, game=game, hands=6000, dealing=dealing, seed=5)
    assert len(result.scores) == players
    for score in result.scores:
        assert score.hands == result.hands
        if dealing == DUPLICATE:  # the copies sit in all seats with the same cards and the same luck
            assert score.won.mean == pytest.approx(0.0, abs=1e-12)
        else:
            assert 0 < score.won.error < 1
            assert abs(score.won.mean) < 4 * score.won.error


@pytest.mark.parametrize(
    ("game", "words", "dealing"),
    [
        (TWO, (1, 2), DUPLICATE),
        (TWO, (1, "random"), FRESH),
        slow(THREE, (1, 2, "random"), FRESH),
        ("leduc(players=3)", (1, 2, 3), DUPLICATE),
    ],
)
def test_nobody_wins_what_nobody_loses(game, words, dealing):
    """Also with the luck of the cards taken out: it is regressed out of what sums to zero."""
    result = match(*[bot_of(game, word) for word in words], game=game, hands=600, dealing=dealing)
    for won in ([score.won.mean for score in result.scores], [score.plain.mean for score in result.scores]):
        assert max(map(abs, won)) > 0.01
        assert sum(won) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("compiled", [True, False])
def test_in_swapped_seats_the_same_play_wins_what_it_lost(compiled):
    """Bots that never look at their cards and never draw: the line is the same, so each deal sums to zero."""
    contest = contest_of(TWO, ("always-raise", "always-call"), dealing=DUPLICATE, compiled=compiled)
    won = contest.play_hands(0, 200)[0].won
    assert won.shape == (200, 2, 2)
    mine = np.array([[won[n, t, (n + t) % 2] for t in range(2)] for n in range(200)])
    assert (np.abs(mine).sum(axis=1) > 0).any()
    assert (mine.sum(axis=1) == 0).all()


@pytest.mark.parametrize(
    ("game", "dealing", "hands"),
    [
        ("leduc", DUPLICATE, 100_000),
        ("leduc", FRESH, 100_000),
        ("kuhn(pot=8)", DUPLICATE, 100_000),
        ("goofspiel(3)", DUPLICATE, 100_000),
        ("bluff(1,1,4)", DUPLICATE, 100_000),
        ("kuhn(players=3)", DUPLICATE, 60_000),
        ("leduc(players=3)", FRESH, 60_000),
    ],
)
def test_a_match_finds_the_exact_value(game, dealing, hands):
    policy, opponent = felt.random_policy(game, 11), felt.random_policy(game, 12)
    rules = felt.load_game(game)
    truth = values_against(policy, opponent)
    others = [TreeBot(opponent, rules)] * (rules.players - 1)
    result = match(TreeBot(policy, rules), *others, hands=hands, dealing=dealing, seed=6)
    won = result.scores[0].won
    assert won.error < 0.05
    assert abs(won.mean - np.mean(truth)) < 4 * won.error
    assert result.scores[0].by_seat == pytest.approx(truth, abs=20 * won.error)


# The same result with any number of processes, and however often it was stopped.


def test_the_number_of_threads_does_not_matter():
    reported = {
        facts_of(
            match("random", "probe", game=TWO, hands=900, session=70, dealing=FRESH, processes=processes)
        )
        for processes in (1, 2, 3)
    }
    assert len(reported) == 1


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter():
    """For one that draws, one that learns and one that fails."""
    bots = [f"{OWN}:{name}" for name in ("Even", "Novice", "Failing")]
    results = [
        match(*bots, game="kuhn(players=3)", hands=400, session=30, seed=7, limit=60.0, processes=processes)
        for processes in (1, 2, 3)
    ]
    assert len(set(map(facts_of, results))) == 1
    failing = results[1].scores[2].stats
    assert failing.faults[decision_stats.ERROR] == failing.decisions > 0


def test_blocks_can_be_played_in_any_order():
    contest = contest_of(TWO, ("random", "probe"), dealing=FRESH, compiled=True)
    whole = contest.play(0, 90).moments
    parts = [contest.play(first, 30).moments for first in (60, 0, 30)]
    assert sum(part.sums for part in parts) == pytest.approx(whole.sums)
    assert sum(part.products for part in parts) == pytest.approx(whole.products)


KILLED = """
import os, signal, sys
from openfelt.arena.match import match

folder, game, compiled, *bots = sys.argv[1:]
blocks = []

def progress(hands):
    blocks.append(hands)
    if len(blocks) == 3:
        os.kill(os.getpid(), signal.SIGKILL)

settings = {"game": game, "hands": 400, "session": 30, "seed": 8, "compiled": compiled == "1"}
match(*bots, **settings, folder=folder, progress=progress)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "compiled", "bots"),
    [
        ("kuhn(players=3)", True, ["random", "probe", "probe"]),
        slow("leduc", False, [f"{OWN}:Novice", "random"]),
    ],
)
def test_a_killed_match_resumes_to_the_same_result(game, compiled, bots, tmp_path):
    arguments = [str(tmp_path / "killed"), game, str(int(compiled)), *bots]
    ended = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    assert len((tmp_path / "killed" / "parts.jsonl").read_text().splitlines()) == 3
    settings = {"game": game, "hands": 400, "session": 30, "seed": 8, "compiled": compiled}
    blocks = []
    resumed = match(*bots, **settings, folder=tmp_path / "killed", progress=blocks.append)
    straight = match(*bots, **settings)
    assert facts_of(resumed) == facts_of(straight)
    assert sum(blocks) == straight.hands


WORKERS = """
import multiprocessing, os, signal, sys
from pathlib import Path
from openfelt.arena.match import match

def progress(hands):
    workers = [str(child.pid) for child in multiprocessing.active_children()]
    Path(sys.argv[1]).write_text(" ".join(workers))
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    match(*sys.argv[2:], game="kuhn", hands=10_000, session=20, processes=2, progress=progress)
"""


@pytest.mark.slow
def test_workers_do_not_outlive_a_match_that_was_killed(tmp_path):
    script, noted = tmp_path / "script.py", tmp_path / "workers"
    script.write_text(WORKERS)
    command = [sys.executable, str(script), str(noted), f"{OWN}:Even", "random"]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    alive = [int(word) for word in noted.read_text().split()]
    assert len(alive) == 2
    for _ in range(100):
        alive = [worker for worker in alive if is_alive(worker)]
        if not alive:
            break
        time.sleep(0.1)
    for worker in alive:
        os.kill(worker, signal.SIGKILL)
    assert not alive


def is_alive(process: int) -> bool:
    """Whether a process runs; one that is over but was not waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("compiled", [True, False])
def test_a_longer_match_continues_a_shorter_one(compiled, tmp_path):
    settings = {"game": "leduc", "session": 30, "seed": 9, "compiled": compiled}
    bots = "random", "always-raise"
    short = match(*bots, hands=200, folder=tmp_path / "one", **settings)
    longer = match(*bots, hands=500, folder=tmp_path / "one", **settings)
    assert facts_of(longer) == facts_of(match(*bots, hands=500, **settings))
    assert facts_of(match(*bots, hands=200, folder=tmp_path / "one", **settings)) == facts_of(short)


@pytest.mark.parametrize("kept", [0, 1, 50, -1, -2, -300])
def test_a_line_that_was_cut_off_is_played_again(kept, tmp_path):
    settings = {"game": "kuhn", "session": 30, "seed": 9, "folder": tmp_path / "one"}
    whole = facts_of(match("random", "probe", hands=200, **settings))
    path = tmp_path / "one" / "parts.jsonl"
    path.write_bytes(path.read_bytes()[:kept])
    assert facts_of(match("random", "probe", hands=200, **settings)) == whole
    assert facts_of(match("random", "probe", hands=200, **settings)) == whole


def sentence(error) -> str:
    """What an error says: one line, with an end."""
    text = str(error.value)
    assert "\n" not in text
    assert text.endswith((".", "?"))
    return text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": 10}, "seed 9, not 10"),
        ({"game": "leduc"}, "kuhn"),
        ({"dealing": FRESH}, "dealing duplicate, not fresh"),
        ({"limit": 5.0}, "limit"),
        ({"session": 31}, "block"),
    ],
)
def test_the_folder_of_another_match_is_left_alone(change, says, tmp_path):
    settings = {"game": "kuhn", "session": 30, "seed": 9, "hands": 120, "folder": tmp_path}
    match("random", "probe", **settings)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(felt.FeltError) as error:
        match("random", "probe", **{**settings, **change})
    assert says in sentence(error)
    with pytest.raises(felt.FeltError, match="probe"):
        match("random", "always-call", **settings)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_bot_that_was_changed_makes_another_match(tmp_path):
    """A file that was edited, or a folder that was trained on, is not the bot that played the first hands."""
    path, folder = tmp_path / "own.py", tmp_path / "policy"
    for kind, bot in (("file", f"{path}:Even"), ("policy", str(folder))):
        path.write_text(Path(OWN).read_text())
        felt.save_policy(felt.random_policy("kuhn", 1), folder)
        settings = {"game": "kuhn", "hands": 40, "session": 10, "folder": tmp_path / f"match-{kind}"}
        match(bot, "random", **settings)
        match(bot, "random", **settings)
        path.write_text(Path(OWN).read_text().replace("dice.uniform()", "0.5 * dice.uniform()"))
        felt.save_policy(felt.random_policy("kuhn", 2), folder)
        with pytest.raises(felt.FeltError) as error:
            match(bot, "random", **{**settings, "hands": 80})
        sentence(error)


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("Dear all")
    with pytest.raises(felt.FeltError, match="holds other files"):
        match("random", "probe", game="kuhn", hands=20, folder=tmp_path)
    with pytest.raises(felt.FeltError):
        match("random", "probe", game="kuhn", hands=20, folder=tmp_path / "letter.txt")


def flip_a_digit(line: str) -> str:
    """Another number where a sum stands: still JSON, but no longer what was played."""
    found = json.loads(line)
    found["moments"]["sums"][0] += 100.0
    return json.dumps(found)


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line[: len(line) // 2],
        lambda line: "[1, 2]",
        lambda line: "{}",
        lambda line: line.replace("moments", "minutes"),
        lambda line: json.dumps({**json.loads(line), "conduct": [None, 3]}),
        lambda line: json.dumps({**json.loads(line), "style": "none"}),
        flip_a_digit,
    ],
)
def test_a_damaged_line_is_named(damage, tmp_path):
    settings = {"game": "kuhn", "session": 30, "hands": 200, "folder": tmp_path}
    match("random", "probe", **settings)
    path = tmp_path / "parts.jsonl"
    lines = path.read_text().splitlines()
    lines[1] = damage(lines[1])
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(felt.FileError) as error:
        match("random", "probe", **settings)
    assert "line 2" in sentence(error)


@pytest.mark.parametrize(
    "settings",
    [
        lambda text: text.replace('"version": 1', '"version": 2'),
        lambda text: text.replace('"version": 1', '"version": "one"'),
        lambda text: text.replace("openfelt match", "openfelt run"),
        lambda text: text[:20],
        lambda text: "[]",
        lambda text: json.dumps({**json.loads(text), "setup": []}),
    ],
)
def test_settings_that_are_newer_foreign_or_damaged_are_one_sentence(settings, tmp_path):
    match("random", "probe", game="kuhn", hands=20, folder=tmp_path)
    path = tmp_path / "match.json"
    text = path.read_text()
    path.write_text(settings(text))
    assert path.read_text() != text
    with pytest.raises(felt.FeltError) as error:
        match("random", "probe", game="kuhn", hands=20, folder=tmp_path)
    assert str(tmp_path) in sentence(error)


@pytest.mark.parametrize(
    "wrong",
    [
        {"hands": 3},
        {"hands": 10.5},
        {"hands": float("inf")},
        {"hands": float("nan")},
        {"processes": 0},
        {"processes": 1.5},
        {"limit": 0.0},
        {"limit": -1.0},
        {"limit": float("nan")},
        {"dealing": "twice"},
        {"seed": -1},
        {"seed": 0.5},
        {"session": -5},
        {"game": "leduc(players=3)"},
        {"game": "chess"},
    ],
    ids=str,
)
def test_bad_settings_are_one_sentence(wrong):
    with pytest.raises(felt.FeltError) as error:
        match("random", "probe", **{"game": "kuhn", "hands": 20, **wrong})
    sentence(error)


def test_bots_that_cannot_meet_are_refused():
    kuhn, leduc = felt.load_game("kuhn"), felt.load_game("leduc")
    bot = TreeBot(felt.random_policy("kuhn", 1), kuhn)
    for bots in [(bot,), (bot, "random"), (bot, TreeBot(felt.random_policy("leduc", 1), leduc))]:
        with pytest.raises(felt.FeltError) as error:
            match(*bots, hands=20)
        sentence(error)
    with pytest.raises(felt.FeltError, match="one process"):
        match(arena_bots.Even(kuhn), arena_bots.Even(kuhn), hands=20, processes=2)


@pytest.mark.parametrize(
    "kind", [arena_bots.Even, lambda game: TreeBot(felt.random_policy(game.name, 1), game)]
)
def test_one_bot_may_meet_itself(kind):
    bot = kind(felt.load_game("kuhn"))
    result = match(bot, bot, hands=200)
    assert [score.won.mean for score in result.scores] == [0.0, 0.0]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_policy_with_other_rules_of_betting_is_refused(compiled):
    """One that knows three bets a street has no row for the fourth."""
    game = felt.load_game(TWO)
    trees = [compile_any(name) for name in (TWO, "holdem(buckets='ehs:2',bets=3)")]

    def play() -> None:
        match(*[HoldemBot(rule_policy(tree, "always-raise"), game) for tree in trees], compiled=compiled)

    with pytest.raises(felt.FeltError) as error:
        play()
    sentence(error)


@pytest.mark.parametrize("base", [RuleBot, TreeBot])
def test_a_bot_derived_from_a_policy_plays_as_it_says(base):
    """Kernels know the table only, so one that decides in its own way must be asked."""

    class Own(base):
        def act(self, view, dice, clock):
            return view.actions[0]

    game = felt.load_game("leduc")
    own = Own("always-raise", game) if base is RuleBot else Own(felt.random_policy("leduc", 1), game)
    reported = match(own, RuleBot("always-raise", game), hands=40)
    assert reported.scores[0].plain.mean == -1.0  # the ante


@pytest.mark.parametrize("base", [RuleBot, TreeBot])
def test_a_bot_derived_from_a_policy_observes_how_hands_end(base):
    reported = []

    class Own(base):
        def end_hand(self, view, won):
            reported.append(won)

    game = felt.load_game("leduc")
    own = Own("always-raise", game) if base is RuleBot else Own(felt.random_policy("leduc", 1), game)
    result = match(own, RuleBot("always-raise", game), hands=40)
    assert len(reported) == 40
    assert sum(reported) / 40 == pytest.approx(result.scores[0].plain.mean)


# Bots that misbehave.


@pytest.fixture
def watchdog():
    """Ends a test that hangs, by a clock that matches do not use and an error that no code catches."""

    def bark(_, frame):
        while frame is not None:
            if frame.f_code.co_name.startswith("test_"):  # pytest's own code must not be interrupted
                pytest.fail("The bot was never interrupted.")
            frame = frame.f_back

    before = signal.signal(signal.SIGVTALRM, bark)
    signal.setitimer(signal.ITIMER_VIRTUAL, 120.0, 1.0)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def test_an_alarm_that_goes_off_again_and_again_interrupts_the_call_only(watchdog, monkeypatch):
    """As on a machine that stalls while the alarm is being switched off."""

    def endless():
        while True:
            pass

    monkeypatch.setattr(time_limit, "REPEAT", 2e-5)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)  # tells of signals that came too late
    before = signal.getsignal(signal.SIGALRM)
    for _ in range(500):
        with pytest.raises(time_limit.TooLateError):
            time_limit.call_within(1e-4, endless)
        assert signal.getsignal(signal.SIGALRM) is before
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


BAD = [
    ("Late", decision_stats.LATE),
    ("Endless", decision_stats.LATE),
    ("Careless", decision_stats.LATE),
    ("Swallowing", decision_stats.LATE),
    ("Failing", decision_stats.ERROR),
    ("Leaving", decision_stats.ERROR),
    ("Silent", decision_stats.ILLEGAL),
    ("Flying", decision_stats.ILLEGAL),
    ("Counting", decision_stats.ILLEGAL),
    ("Listing", decision_stats.ILLEGAL),
    ("Painting", decision_stats.ILLEGAL),
]


@pytest.mark.parametrize("game", [TWO, slow("leduc")])
@pytest.mark.parametrize(("bot", "fault"), BAD)
def test_a_bad_bot_checks_or_folds_and_is_counted(bot, fault, game, watchdog, monkeypatch):
    """What is first among its actions checks, or folds to a bet, in hold'em and in other poker."""
    monkeypatch.setattr(table, "WARM_UP", 0.1)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)  # pytest's own may be interrupted too
    rules = felt.load_game(game)
    spy = arena_bots.Spy(rules)
    arena_bots.Spy.notes.clear()
    before = signal.getsignal(signal.SIGALRM)
    limit = LIMIT if fault == decision_stats.LATE else 60.0
    bad = getattr(arena_bots, bot)(rules)
    result = match(bad, spy, game=game, hands=8, limit=limit, seed=2)
    stats = result.scores[0].stats
    assert stats.decisions >= 8
    assert stats.faults == {**dict.fromkeys(stats.faults, 0), fault: stats.decisions}
    assert bool(stats.first_error) == (fault == decision_stats.ERROR)
    assert "failed to act" in str(result)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    # The spy calls, so a bad bot can check to the end, or folds to the blind.
    if game == TWO:
        assert result.scores[0].by_seat[1] == -1.0  # the small blind is folded
        for _, _, view, _ in (note for note in arena_bots.Spy.notes if note[1] == "end"):
            theirs = {move.action for move in view.moves if move.seat != view.seat}
            assert theirs <= {"check", "fold"}
            assert theirs or view.moves[-1].action == "fold"  # on a busy machine the spy may be late too
    else:
        assert abs(result.scores[0].plain.mean) <= 1.0  # nobody ever bets


def test_a_bot_that_hangs_at_the_end_of_a_hand_is_interrupted(watchdog):
    rules = felt.load_game("kuhn")
    result = match(arena_bots.Sleeper(rules), arena_bots.Caller(rules), hands=8, limit=LIMIT)
    assert result.scores[0].stats.faults[decision_stats.LATE] >= 8


def test_what_a_bot_draws_is_its_own():
    """A bot may draw as often as it likes; the numbers say nothing of what the next one will do."""
    game = felt.load_game(TWO)
    folds = raises = 0
    arena_bots.Spy.notes.clear()

    class Watching(arena_bots.Bluffing):
        def end_hand(self, view, won):
            nonlocal folds, raises
            for one, following in zip(view.moves, view.moves[1:], strict=False):
                if one.seat == view.seat != following.seat and one.action in ("bet", "raise"):
                    raises += 1
                    folds += following.action == "fold"

    match(Watching(game), RuleBot("random", game), hands=2000, dealing=FRESH, seed=3)
    assert raises > 500
    # `random` folds to a bet with 1/3 if it can raise, else with 1/2; four bets a street are rare here.
    assert abs(folds / raises - 1 / 3) < 5 * (2 / 9 / raises) ** 0.5 + 0.02


# What bots see.


def shuffle_the_hidden(monkeypatch, own: int, cards_known: int):
    """Deal other cards to all but one seat, and other boards beyond so many cards; all else as before."""

    def deal(players, streams, first, count):
        deals = deal_block(players, streams, first, count)
        hidden = [place for place in range(2 * players + 5) if place // 2 != own or place >= 2 * players]
        hidden = [place for place in hidden if not 2 * players <= place < 2 * players + cards_known]
        for cards, values in zip(deals.cards, deals.value, strict=True):
            left = [card for card in range(52) if card not in cards]
            cards[hidden] = np.random.default_rng(1).permutation(left)[: len(hidden)]
            board = cards[2 * players :].tolist()
            values[:] = [
                hand_value((*cards[2 * seat : 2 * seat + 2].tolist(), *board)) for seat in range(players)
            ]
        return deals

    monkeypatch.setattr(holdem_table, "deal_block", deal)


def views_of(spy: type, game: str, hands: int):
    """What a spy wrote down; the others draw evenly, whatever they hold."""
    rules = felt.load_game(game)
    arena_bots.Spy.notes.clear()
    others = [arena_bots.Even(rules) for _ in range(rules.players - 1)]
    match(spy(rules), *others, hands=hands, dealing=FRESH, seed=4)
    return [(moment, view, text) for _, moment, view, text in arena_bots.Spy.notes]


@pytest.mark.parametrize("known", [slow(0), slow(3), slow(4), 5])
@pytest.mark.parametrize(
    ("spy", "game"),
    [(arena_bots.Spy, TWO), slow(arena_bots.FoldingSpy, TWO), (arena_bots.FoldingSpy, THREE)],
)
def test_what_is_hidden_cannot_be_seen(monkeypatch, spy, game, known):
    """With all hidden cards exchanged, a spy that reads everything it is given must read the same."""
    views, compared = views_of(spy, game, 60), 0
    for own in range(felt.load_game(game).players):
        with monkeypatch.context() as patch:
            shuffle_the_hidden(patch, own, known)
            again = views_of(spy, game, 60)
        for (moment, one, before), (_, other, after) in zip(views, again, strict=True):
            assert (one.seat, one.line) == (other.seat, other.line)
            assert type(one.seat) is int
            street = one.moves[-1].street if moment == "end" else one.betting.street
            if one.shown:
                assert (moment, len(one.board)) == ("end", 5)
                assert one.shown != other.shown
            elif one.seat == own and BOARD_CARDS[street] <= known:
                assert before == after, (moment, one.line)
                compared += 1
    assert compared > 20


def test_the_board_at_the_end_is_what_was_dealt():
    """A hand that ends before the flop shows no flop."""
    folded = 0
    for moment, view, _ in [*views_of(arena_bots.FoldingSpy, TWO, 60), *views_of(arena_bots.Spy, THREE, 60)]:
        if moment == "end" and not view.shown:
            assert view.moves[-1].action == "fold"
            assert view.street == view.moves[-1].street, view.line
            folded += 1
        elif moment == "end":
            assert view.shown.keys() == {seat for seat, out in enumerate(view.betting.folded) if not out}
    assert folded > 20


@pytest.mark.parametrize("game", ["leduc", "kuhn", "bluff(1,1,4)", "goofspiel(3)"])
def test_in_other_games_a_bot_knows_what_its_seat_has_seen(game):
    rules, known, wanted = felt.load_game(game), [], []

    class Watching(arena_bots.Even):
        def act(self, view, dice, clock):
            known.append((view.seat, view.infoset))
            return super().act(view, dice, clock)

    def watch(hand) -> list[float]:
        wanted.append((hand.mover, seen_by(hand, hand.mover)))
        return evenly(hand)

    def evenly(hand) -> list[float]:
        return [1 / len(hand.actions)] * len(hand.actions)

    match(Watching(rules), arena_bots.Even(rules), hands=60, seed=4)
    SlowMatch(rules, (0, 1), [watch, evenly], seed=4, duplicate=True).deals(30)
    assert known == wanted


# Bots that learn.


@pytest.mark.parametrize("dealing", [DUPLICATE, FRESH])
def test_bots_that_learn_get_whole_sessions_and_start_anew(dealing):
    """A novice folds its first ten hands, and a session has twenty deals, each in a life of its own."""
    bots = f"{OWN}:Novice", "always-raise"
    result = match(*bots, game=TWO, hands=160, dealing=dealing, session=20, limit=60.0)
    assert result.scores[0].style.seen_flops == 0.5


def test_bots_given_as_objects_start_anew_too(tmp_path):
    def play(hands, **more):
        rules = felt.load_game(TWO)
        bots = arena_bots.Novice(rules), RuleBot("always-raise", rules)
        return match(*bots, hands=hands, dealing=FRESH, session=20, **more)

    assert play(160).scores[0].style.seen_flops == 0.5
    play(80, folder=tmp_path)
    assert facts_of(play(160, folder=tmp_path)) == facts_of(play(160))


def test_a_bot_that_learns_never_meets_a_deal_again():
    """Where each deal is played in every seating it would know the cards of the other."""
    rules = felt.load_game(TWO)
    arena_bots.Spy.notes.clear()
    match(arena_bots.LearningSpy(rules), RuleBot("always-call", rules), hands=40, session=20)
    ends = [(id(spy), view.board) for spy, moment, view, _ in arena_bots.Spy.notes if moment == "end"]
    assert len(ends) == 40
    assert len(set(ends)) == 40


def test_a_bot_that_learns_sits_in_one_seat_at_a_time():
    rules = felt.load_game(THREE)
    arena_bots.Spy.notes.clear()
    spy = arena_bots.LearningSpy(rules)
    match(arena_bots.Caller(rules), spy, spy, hands=30, dealing=FRESH, session=30)
    ends = [(id(one), view.board) for one, moment, view, _ in arena_bots.Spy.notes if moment == "end"]
    assert len(ends) == 60
    assert len(set(ends)) == 60


# From names to bots.


def test_unknown_names_offer_the_nearest():
    game = felt.load_game(TWO)
    with pytest.raises(felt.FeltError, match="did you mean 'always-call'"):
        load_bot("allways-call", game)
    with pytest.raises(felt.FeltError, match="There is no bot 'xyzzy'"):
        load_bot("xyzzy", game)


FILES = {
    "good": "from openfelt.bots.bot import Bot\nclass Own(Bot):\n    def act(self, view, dice, clock):\n"
    "        return view.passive\n",
    "not a bot": "class Own:\n    pass\n",
    "a bot of another name": "from openfelt.bots.bot import Bot\nclass Other(Bot):\n    act = None\n",
    "a function": "def Own(game):\n    return None\n",
    "syntax": "class Own(:\n",
    "import": "import a_module_that_is_not_there\n",
    "leaves": "raise SystemExit(1)\n",
    "without act": "from openfelt.bots.bot import Bot\nclass Own(Bot):\n    pass\n",
    "fails when made": "from openfelt.bots.bot import Bot\nclass Own(Bot):\n    act = None\n"
    "    def __init__(self, game):\n        raise RuntimeError('no')\n",
    "takes no game": "from openfelt.bots.bot import Bot\nclass Own(Bot):\n    act = None\n"
    "    def __init__(self):\n        pass\n",
}


@pytest.mark.parametrize("case", FILES)
def test_a_class_in_a_file_is_a_bot_or_one_sentence(case, tmp_path):
    path = tmp_path / "own.py"
    path.write_text(FILES[case])
    if case == "good":
        result = match(f"{path}:Own", "always-raise", game=TWO, hands=20)
        assert result.scores[0].style.late_aggression == 0.0
        return
    with pytest.raises(felt.FeltError) as error:
        match(f"{path}:Own", "always-raise", game=TWO, hands=20)
    assert "own.py" in sentence(error)


def test_files_and_folders_that_are_not_there_are_one_sentence(tmp_path):
    game = felt.load_game(TWO)
    (tmp_path / "empty.py").write_text("")
    for name in (
        "none.py:Own",
        f"{tmp_path}/empty.py:Own",
        f"{tmp_path}/empty.py",
        str(tmp_path),
        "greedy@none",
    ):
        with pytest.raises(felt.FeltError) as error:
            load_bot(name, game)
        sentence(error)


def test_a_policy_of_another_game_is_one_sentence(tmp_path):
    felt.save_policy(felt.uniform_policy("leduc"), tmp_path / "leduc")
    for name, game in [
        (str(tmp_path / "leduc"), "kuhn"),
        (str(tmp_path / "leduc"), "leduc(players=3)"),
        (str(tmp_path / "leduc"), TWO),
        ("default", THREE),
        ("default", "leduc"),
        ("always-call", "goofspiel(3)"),
    ]:
        rules = felt.load_game(game)
        with pytest.raises(felt.FeltError) as error:
            load_bot(name, rules)
        sentence(error)
        with pytest.raises(felt.FeltError):
            match(name, *["random"] * (rules.players - 1), game=game, hands=60)


def test_the_game_is_that_of_the_policy(tmp_path):
    felt.save_policy(felt.random_policy("leduc", 3), tmp_path / "one")
    result = match(str(tmp_path / "one"), "random", hands=2000)
    assert result.game == "leduc"
    truth = np.mean(values_against(felt.random_policy("leduc", 3), felt.uniform_policy("leduc")))
    assert abs(result.scores[0].won.mean - truth) < 4 * result.scores[0].won.error


def test_luck_is_not_taken_out_under_a_clock():
    """A policy that is late does not do what it drew."""
    with pytest.raises(felt.FeltError, match="time limit"):
        match("random", "probe", game="kuhn", hands=20, limit=1.0, aivat=True)


def test_a_history_without_a_folder_is_refused_before_the_match(tmp_path):
    with pytest.raises(felt.FeltError, match="There is no folder"):
        match("random", "probe", game="kuhn", hands=20, history=tmp_path / "nowhere" / "hands.db")
