"""How strong bots are, in words: exactly in small games, by matches in hold'em.

What is measured once is kept in files beside this one (`strengths/`); a lobby must not wait for learners.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from openfelt.arena.tournament import Amount, mean_of
from openfelt.bots.policy_bot import PolicyBot, TreeBot
from openfelt.bots.registry import BOTS, load_bot
from openfelt.bots.rule_bot import RuleBot
from openfelt.bots.view import TreeView
from openfelt.core.files import write_text
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import Game
from openfelt.games.holdem import MOST_BETS, Holdem
from openfelt.games.registry import load_game
from openfelt.measure.exploitability import exploitability
from openfelt.policy.files import DEFAULT
from openfelt.policy.tabular import TabularPolicy

NOT_MEASURED = "not measured; `felt match` can"
REFERENCE = "poki-like"  # what bots are measured against with three players
RESULTS = Path(__file__).parent / "strengths"
EXACT, HEADS_UP, THREE_HANDED = "exact.csv", "holdem.csv", "holdem_3.csv"
REMEMBERED = 256


@lru_cache(maxsize=REMEMBERED)
def strength(name: str, game: Game) -> str:
    """How strong a bot of `bots_for` is, in words: exactly in small games, by matches in hold'em."""
    if isinstance(game, Holdem):
        return _strength_by_matches(name, game.players) if _is_measured(game) else NOT_MEASURED
    lost = exact_results().get((game.name, name))
    lost = exact(name, game) if lost is None else lost
    if lost is None:
        return NOT_MEASURED
    amount = "less than 0.0001" if lost < 1e-4 else f"{lost:.2g}" if lost < 0.1 else f"{lost:,.2f}"
    among = "" if game.players == 2 else ": what a best response wins from two of it"
    return f"exploitable for {amount} {game.unit} a hand (exact{among})"


def weakness(name: str, game: Game) -> float:
    """To put the bots of a game in order: the less, the stronger; without end where nothing is known."""
    if not isinstance(game, Holdem):
        return exact_results().get((game.name, name), math.inf)
    if not _is_measured(game):
        return math.inf
    if game.players == 3:
        won = three_handed_results().get(name)
        return -won.mean if won else math.inf
    results = heads_up_results().get(name)
    return -mean_of([*results.values()]).mean if results else math.inf


def exact(name: str, game: Game) -> float | None:
    """The exploitability of a bot, if it decides by what it sees alone."""
    bot = load_bot(name, game)
    if type(bot) not in (TreeBot, RuleBot):
        return None
    assert isinstance(bot, PolicyBot)
    return exploitability(_profile(bot)).exploitability


def write_exact(games: Sequence[str]) -> None:
    """Measure all of our bots in these games, and keep that in the file beside this one."""
    lines = ["game,bot,exploitability"]
    for game in map(load_game, games):
        for name in (name for name, kind in BOTS.items() if kind.plays(game)):
            lost = exact(name, game)
            if lost is not None:
                lines.append(f'"{game.name}",{name},{lost!r}')
    write_text(RESULTS / EXACT, "\n".join(lines) + "\n")


def _profile(bot: PolicyBot) -> TabularPolicy:
    """The bot in all seats, asked in every row."""
    tree = compile_game(bot.game)
    table = np.empty(tree.num_slots)
    for row in range(tree.num_rows):
        view = TreeView(bot.game, tree.row_player(row), tree.actions(row), tree, row)
        table[tree.slots(row)] = np.array(bot.weights(view)) / bot.whole
    return TabularPolicy(tree, table)


def _is_measured(game: Holdem) -> bool:
    return game.bets == MOST_BETS


def _strength_by_matches(name: str, players: int) -> str:
    if players == 3:
        return _strength_three_handed(name)
    won = heads_up_results().get(name)
    if won is None:
        return NOT_MEASURED
    others = f"the other {len(won)} bots in the mean"
    opponent, note = DEFAULT, ""
    if name == DEFAULT:
        opponent, note = min(won, key=lambda other: won[other].mean), ", the least of all"
    return f"{_told(mean_of([*won.values()]), others)}; {_told(won[opponent], f'`{opponent}`')}{note}"


def _strength_three_handed(name: str) -> str:
    won = three_handed_results()
    if name not in won:
        return NOT_MEASURED
    if name != REFERENCE:
        return _told(won[name], f"two `{REFERENCE}`")
    lose = all(amount.mean < -amount.interval for other, amount in won.items() if other != name)
    which = "all of which lose to two of it" if lose else "which sat with two of it"
    return f"what the other bots are measured by, {which}"


def _told(won: Amount, opponent: str) -> str:
    size = f"{abs(won.mean):,.0f} ± {won.interval:,.0f} mbb/h"
    if abs(won.mean) <= won.interval:
        return f"about even with {opponent} ({won.mean:+,.0f} ± {won.interval:,.0f} mbb/h)"
    return f"wins {size} from {opponent}" if won.mean > 0 else f"loses {size} to {opponent}"


@cache
def exact_results() -> dict[tuple[str, str], float]:
    """By game and bot: the exploitability, in the game's unit."""
    return {(row["game"], row["bot"]): float(row["exploitability"]) for row in _rows(EXACT)}


@cache
def heads_up_results() -> dict[str, dict[str, Amount]]:
    """What each bot won from each other in two-player hold'em, in mbb/h."""
    found: dict[str, dict[str, Amount]] = {}
    for row in _rows(HEADS_UP):
        amount = Amount(float(row["won"]), float(row["interval_95"]))
        found.setdefault(row["bot"], {})[row["against"]] = amount
    return found


@cache
def three_handed_results() -> dict[str, Amount]:
    """What each bot won from two of REFERENCE in three-player hold'em, in mbb/h."""
    return {row["row"]: Amount(float(row["won"]), float(row["half_95"])) for row in _rows(THREE_HANDED)}


def _rows(file: str) -> list[dict[str, str]]:
    with (RESULTS / file).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))
