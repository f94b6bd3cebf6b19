"""The lobby: strengths by open_spiel and closed forms, every bot at the table, names from the web refused."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from bridge import open_spiel_twin
from speed import fast_only, slow

import openfelt as felt
from openfelt.bots import learned, registry
from openfelt.bots.bot import Clock
from openfelt.bots.learned import LEARNERS, TARGET
from openfelt.bots.registry import BOTS, load_bot
from openfelt.bots.view import view_of
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.hand import Hand
from openfelt.policy import pretrained
from openfelt.policy.tabular import TabularPolicy
from openfelt.table.lobby import lobby, strength as strengths
from openfelt.table.lobby.characters import CHARACTERS, SEARCH_BOTS, has_ranges, title_of
from openfelt.table.lobby.lobby import SMALL_GAMES, TABLE_GAMES, bots_for, table_bot, table_game
from openfelt.table.lobby.strength import NOT_MEASURED, RESULTS, exact, exact_results, level, strength
from openfelt.table.presentation.registry import presentation_of

STUDIES = Path(__file__).parent.parent / "docs" / "studies"
SEARCHERS = ("mcts", "mcts-tally", "mcts-relational", "resolver")
RULE_BOTS = ("always-fold", "always-call", "always-raise", "random", "probe")


def play(game, bots, generator):
    """One hand, as the terminal plays it."""
    hand = Hand(game)
    while hand.mover != TERMINAL:
        if hand.mover == CHANCE:
            hand.act_for_chance(generator)
            continue
        view = view_of(hand)
        action = bots[hand.mover].act(view, Dice(int(generator.integers(1 << 63))), Clock())
        hand.act(hand.actions.index(action))
    return hand.payoffs


def rule_policy(name, rule):
    """A rule's policy from its words alone, without the bot."""
    tree = felt.compile_game(name)
    table = np.zeros(tree.num_slots)
    for row in range(tree.num_rows):
        words, first = list(tree.actions(row)), tree.slots(row).start
        if words == ["pass", "bet"]:  # Kuhn: after a bet, "bet" calls and "pass" folds
            faced = "bet" in tree.row_name(row).split()
            meaning = ["fold", "call"] if faced else ["check", "bet"]
        else:
            meaning = words
        passive = next(word for word in meaning if word in ("check", "call"))
        active = next((word for word in meaning if word in ("bet", "raise")), passive)
        folding = "fold" if "fold" in meaning else "check"
        chosen = {
            "always-fold": [folding],
            "always-call": [passive],
            "always-raise": [active],
            "random": meaning,
            "probe": [passive, active],
        }[rule]
        for word in chosen:
            table[first + meaning.index(word)] += 1 / len(chosen)
    return TabularPolicy(tree, table)


def by_open_spiel(name, policy):
    """nash_conv / players, by open_spiel."""
    twin = open_spiel_twin(name).walk()
    return pyspiel.nash_conv(twin.theirs, twin.policy(policy)) / felt.load_game(name).players


def amount(text):
    """The number of chips in a strength."""
    words = text.removeprefix("exploitable for ")
    return 0.0 if words.startswith("less than") else float(words.split()[0])


# Strengths


@pytest.mark.parametrize(
    ("bot", "value"),
    [("always-fold", 1), ("always-call", 1 / 3), ("always-raise", 1 / 3), ("random", 11 / 24)],
)
def test_strengths_in_kuhn_are_the_closed_forms(bot, value):
    assert strength(bot, felt.load_game("kuhn")) == f"exploitable for {value:.2f} chips a hand (exact)"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn", "leduc", "kuhn(players=3)"])
@pytest.mark.parametrize("bot", RULE_BOTS)
def test_strengths_of_rules_are_open_spiels(name, bot):
    theirs = by_open_spiel(name, rule_policy(name, bot))
    assert amount(strength(bot, felt.load_game(name))) == pytest.approx(theirs, abs=0.0051)


@pytest.mark.parametrize("name", ["kuhn", slow("leduc"), slow("kuhn(players=3)")])
@pytest.mark.parametrize("bot", LEARNERS)
def test_strengths_of_what_was_learned_are_open_spiels(name, bot):
    game = felt.load_game(name)
    theirs = by_open_spiel(name, load_bot(bot, game).policy)
    assert amount(strength(bot, game)) == pytest.approx(theirs, rel=0.06, abs=TARGET)
    if bot == "equilibrium":
        assert theirs <= TARGET


def test_strengths_in_holdem_are_the_studies():
    game = felt.load_game("holdem")
    with (STUDIES / "bots-cross-table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (STUDIES / "holdem-exploitability.csv").open(newline="") as file:
        exactly = {row["player"]: float(row["exploitability"]) for row in csv.DictReader(file)}
    found = []
    for choice in bots_for(game):
        if choice.name in SEARCHERS:
            assert (choice.strength, choice.level) == (NOT_MEASURED, "")
            continue
        if choice.name in exactly:
            lost = exactly[choice.name]
            assert choice.strength == f"exploitable for {lost / 10:,.1f} bb/100 ({lost:,.0f} mbb/h), exact"
            found.append(lost)
            continue
        worst = min((row for row in rows if row["bot"] == choice.name), key=lambda row: float(row["won"]))
        lost, half = -float(worst["won"]), float(worst["interval_95"])
        loses = f"loses {lost / 10:,.1f} ± {half / 10:,.1f} bb/100 ({lost:,.0f} mbb/h) to "
        assert choice.strength.startswith(loses + title_of(worst["against"]))
        assert choice.strength.endswith("exploitability not known")
    assert len(found) == 7
    assert found == sorted(found)


def test_levels_follow_from_strengths():
    game = felt.load_game("holdem")
    levels = {choice.name: choice.level for choice in bots_for(game)}
    assert levels["default"] == "Expert"
    assert levels["poki-like"] == levels["chen"] == "Hard"  # beaten by bots whose exploitability is known
    assert levels["random"] == "Beginner"
    assert level("equilibrium", felt.load_game("leduc")) == "Expert"
    assert level("ace1", felt.load_game("holdem(bets=3)")) == ""


def test_every_bot_is_introduced():
    assert set(CHARACTERS) == set(BOTS)
    assert len({character.title for character in CHARACTERS.values()}) == len(CHARACTERS)
    assert set(SEARCH_BOTS) < set(BOTS)
    assert not has_ranges("mcts(c=2)")
    assert title_of("greedy@default") == "greedy@default"


def test_strengths_with_three_players_are_the_studies():
    game = felt.load_game("holdem(players=3)")
    with (STUDIES / "bots-three-handed.csv").open(newline="") as file:
        rows = {row["row"]: row for row in csv.DictReader(file)}
    choices = [choice for choice in bots_for(game) if choice.name not in SEARCHERS]
    assert {choice.name for choice in choices} == set(rows)
    for choice in choices:
        won, half = float(rows[choice.name]["won"]), float(rows[choice.name]["half_95"])
        if choice.name == "poki-like":
            assert choice.strength.startswith("the reference opponent")
        else:
            size = f"{-won / 10:,.1f} ± {half / 10:,.1f} bb/100 ({-won:,.0f} mbb/h)"
            assert choice.strength == f"loses {size} to two of The Grinder"


@pytest.mark.parametrize(
    ("copy", "study"),
    [
        ("holdem.csv", "bots-cross-table.csv"),
        ("holdem_3.csv", "bots-three-handed.csv"),
        ("holdem_exact.csv", "holdem-exploitability.csv"),
    ],
)
def test_results_in_the_package_are_those_of_the_studies(copy, study):
    assert (RESULTS / copy).read_bytes() == (STUDIES / study).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", [slow(name) if name == "leduc(players=3)" else name for name in SMALL_GAMES])
def test_exact_results_in_the_package_are_what_they_are_now(name):
    game = felt.load_game(name)
    kept = {bot: lost for (played, bot), lost in exact_results().items() if played == name}
    assert kept.keys() == {choice.name for choice in bots_for(game)} - set(SEARCHERS)
    for bot, lost in kept.items():
        assert exact(bot, game) == pytest.approx(lost, rel=0.05 if bot in LEARNERS else 1e-9)


def test_what_was_not_measured_is_said_so():
    assert strength("ace1", felt.load_game("holdem(bets=3)")) == NOT_MEASURED


# Who can be chosen


@pytest.mark.slow
@pytest.mark.parametrize("name", fast_only(("kuhn",), TABLE_GAMES))
def test_every_bot_that_is_offered_plays_ten_hands(name):
    game, generator = table_game(name), np.random.default_rng(3)
    choices = bots_for(game)
    assert sum(choice.usual for choice in choices) == 1
    for choice in choices:
        bots = [table_bot(choice.name, game) for _ in range(game.players)]
        for _ in range(10):
            assert sum(play(game, bots, generator)) == pytest.approx(0)


def test_the_usual_bots():
    usual = {name: next(bot.name for bot in bots_for(table_game(name)) if bot.usual) for name in TABLE_GAMES}
    assert usual.pop("holdem") == "default"
    assert usual.pop("holdem(players=3)") == "poki-like"
    assert set(usual.values()) == {"equilibrium"}


@pytest.mark.parametrize("name", [slow(name) if name == "leduc(players=3)" else name for name in SMALL_GAMES])
def test_the_same_bots_play_all_small_games(name):
    game = felt.load_game(name)
    assert {choice.name for choice in bots_for(game)} == {
        bot for bot, kind in BOTS.items() if kind.plays(game)
    }


FIRST_DECISIONS = """
import sys
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.lobby.lobby import table_game, usual_bot
from openfelt.table.lobby.service import LobbyService
service = LobbyService(BotPool())
service.lobby()
for game in map(table_game, sys.argv[1:]):
    service.prepare_deal(game, [usual_bot(game)] * (game.players - 1))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("games", "kernels"),
    [
        (["kuhn", "leduc", "kuhn(players=3)"], set()),
        (["holdem"], {"packing._unpack", "holdem._sums_are_whole"}),
    ],
)
def test_what_is_compiled_before_the_first_decision(games, kernels, tmp_path, monkeypatch):
    """On a new machine, with the lobby: nothing in small games, and in hold'em what reads the policy."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("OPENFELT_CACHE", str(tmp_path))
    subprocess.run([sys.executable, "-c", FIRST_DECISIONS, *games], check=True)
    found = {file.name.partition("-")[0] for file in (tmp_path / "openfelt-kernels").rglob("*.nbi")}
    assert found == kernels


def test_the_lobby_loads_no_policy(monkeypatch):
    def refuse(*_):
        raise AssertionError

    for module in (registry, pretrained, learned):
        monkeypatch.setattr(
            module, "load_policy" if hasattr(module, "load_policy") else "open_policy", refuse
        )
    pretrained.shipped_policy.cache_clear()
    lobby._names.cache_clear()
    assert {"default", "sparbot-like", "resolver"} <= {
        choice.name for choice in bots_for(table_game("holdem"))
    }


def test_holdem_needs_no_compiled_tree(monkeypatch):
    def refuse(game):
        raise AssertionError(game)

    for module in (strengths, learned):
        monkeypatch.setattr(module, "compile_game", refuse)
    lobby._names.cache_clear()
    strength.cache_clear()
    for name in ("holdem", "holdem(players=3)"):
        assert bots_for(table_game(name))


OWN_BOT = """
from openfelt import Bot
class Passive(Bot):
    def act(self, view, dice, clock):
        return view.passive
"""


def test_bots_of_whoever_runs_the_table(tmp_path):
    folder, file = tmp_path / "uniform", tmp_path / "own.py"
    felt.save_policy(felt.uniform_policy("kuhn"), folder)
    file.write_text(OWN_BOT)
    extra = (str(folder), f"{file}:Passive")
    found = {choice.name: choice for choice in bots_for(table_game("kuhn"), extra)}
    assert found[extra[0]].strength == "exploitable for 0.46 chips a hand (exact)"
    assert found[extra[1]].strength == NOT_MEASURED
    game = table_game("leduc")
    assert [bot.name for bot in bots_for(game, extra)] == [extra[1], *(bot.name for bot in bots_for(game))]
    for name in extra:  # and nobody else's
        with pytest.raises(FeltError, match="There is no bot for kuhn"):
            table_bot(name, table_game("kuhn"))


# Names from the web


@pytest.mark.parametrize("game", ["kuhn", "leduc", "holdem"])
@pytest.mark.parametrize(
    "name", ["nobody", "", "../x", "/etc/passwd", "my.py:Bot", "greedy@default", "average@uct", "x" * 10_000]
)
def test_other_bots_are_refused_before_anything_is_opened(name, game, monkeypatch):
    def refuse(*_):
        raise AssertionError

    rules = table_game(game)
    bots_for(rules)
    monkeypatch.setattr(lobby, "load_bot", refuse)
    with pytest.raises(FeltError, match=f"^There is no bot for {game} ") as caught:
        table_bot(name, rules)
    assert len(str(caught.value)) < 400


def test_a_bot_of_another_game_is_refused():
    with pytest.raises(FeltError, match=r"^There is no bot for leduc 'default'"):
        table_bot("default", table_game("leduc"))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("goofspiel(4)", "goofspiel is not played at the table"),
        ("one_card(1000)", "one_card is not played at the table"),
        ("../game.efg", "There is no game"),
        ("kuhn.efg", "There is no game"),
        ("kuhn(pot=open('x'))", "There is no game"),
        ("holdem(buckets='ehs2:169/9/9/9')", "There is no game"),
        ("kuhn(" + "1," * 10_000 + ")", "There is no game"),
        ("", "There is no game"),
        ("khun", "did you mean 'kuhn'"),
        ("kuhn(pot=1e999)", "pot must be a number"),
        ("leduc(ranks=13)", "at most 6 ranks with 2 players, not 13"),
        ("leduc(players=3,ranks=5)", "at most 4 ranks with 3 players, not 5"),
        ("leduc(players=9)", "players must be 2 or 3"),
        ("leduc(((", "There is no game"),
        ("kuhn(pot=1 2)", "cannot be read"),
    ],
)
def test_other_games_are_refused_in_one_sentence(name, says, monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr("openfelt.games.registry.read_efg", refuse)
    with pytest.raises(FeltError) as caught:
        table_game(name)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("kuhn", "Kuhn poker"),
        ("kuhn(pot=8)", "Kuhn poker, a pot of 8"),
        ("kuhn(players=3)", "Kuhn poker, three-handed"),
        ("leduc(ranks=5)", "Leduc hold'em, 5 ranks"),
        ("leduc(players=3,ranks=4)", "Leduc hold'em, three-handed, 4 ranks"),
        ("holdem", "Limit hold'em, heads-up"),
        ("holdem(players=3)", "Limit hold'em, three-handed"),
        ("holdem(bets=3)", "Limit hold'em, heads-up, at most 3 bets a street"),
    ],
)
def test_titles(name, says):
    assert presentation_of(table_game(name)).title == says


# Bots that are learned on the spot


@pytest.mark.slow
@pytest.mark.parametrize("bot", LEARNERS)
def test_what_is_learned_is_the_same_each_time_and_remembered(bot):
    game = felt.load_game("kuhn(pot=3)")
    first = load_bot(bot, game).policy
    assert load_bot(bot, game).policy is first
    learned._learn.cache_clear()
    again = load_bot(bot, game).policy
    assert again is not first
    np.testing.assert_array_equal(again.probabilities, first.probabilities)


@pytest.mark.parametrize("name", ["kuhn", *(slow(name) for name in SMALL_GAMES if name != "kuhn")])
def test_included_equilibria_are_what_is_solved(name):
    game = felt.load_game(name)
    included, solved = learned._included(game), learned._solve(game)
    np.testing.assert_allclose(included.probabilities, solved.policy.probabilities, atol=1e-6)


def test_other_rules_have_no_included_equilibrium(monkeypatch):
    folder = learned._folder(felt.load_game("kuhn"))
    monkeypatch.setattr(learned, "_folder", lambda _: folder)
    assert learned._included(felt.load_game("kuhn"))
    assert learned._included(felt.load_game("kuhn(pot=3)")) is None


def test_the_equilibrium_of_kuhn_has_its_value():
    policy = load_bot("equilibrium", felt.load_game("kuhn")).policy
    assert felt.expected_values(policy)[0] == pytest.approx(-1 / 18, abs=2 * TARGET)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [slow("goofspiel(4)"), "bluff(1,1,4)", slow("one_card(9)"), slow("princess_monster(2,2,4)")]
)
@pytest.mark.parametrize("bot", LEARNERS)
def test_games_that_are_not_poker_are_learned_too(bot, name):
    game, generator = felt.load_game(name), np.random.default_rng(1)
    for kind in (bot, f"greedy@{bot}"):
        bots = [load_bot(kind, game) for _ in range(game.players)]
        for _ in range(5):
            play(game, bots, generator)
    greedy = load_bot(f"greedy@{bot}", game).policy
    rows = [greedy.row(row) for row in range(greedy.tree.num_rows)]
    assert all(row.max() == 1.0 or np.ptp(row) == 0.0 for row in rows)  # even where it was never
    assert sum(row.max() == 1.0 for row in rows) > len(rows) / 2


@pytest.mark.parametrize(
    ("bot", "how"), [("equilibrium", "solved"), ("smooth-uct", "learned"), ("uct", "learned")]
)
def test_holdem_is_refused_in_one_sentence(bot, how):
    assert not BOTS[bot].plays(felt.load_game("holdem"))
    for name in ("holdem", "holdem(players=3)"):
        says = f"{bot} is {how} on the spot, which {name} is too large for."
        with pytest.raises(FeltError) as caught:
            load_bot(bot, felt.load_game(name))
        assert str(caught.value) == says
