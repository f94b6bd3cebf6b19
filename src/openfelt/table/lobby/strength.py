"""The strength of bots in words: exact exploitability in small games, match results in hold'em.

The results are stored in files (`strengths/`), because the lobby must not wait for bots that train first.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from openfelt.arena.tournament import Amount, mean_of
from openfelt.bots.registry import BOTS, load_bot
from openfelt.core.files import write_text
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.measure.exploitability import exploitability
from openfelt.policy.files import DEFAULT
from openfelt.policy.tabular import TabularPolicy

NOT_MEASURED = "not measured; use `felt match`"
REFERENCE = "poki-like"  # opponent in three-player matches
RESULTS = Path(__file__).parent / "strengths"
EXACT, HEADS_UP, THREE_HANDED = "exact.csv", "holdem.csv", "holdem_3.csv"
CACHE_SIZE = 256


@lru_cache(maxsize=CACHE_SIZE)
def strength(name: str, game: Game) -> str:
    """The strength of a bot of `bots_for`."""
    if not game.is_enumerable:
        return _strength_by_matches(name, game.players) if _is_measured(game) else NOT_MEASURED
    lost = exact_results().get((game.name, name))
    lost = exact(name, game) if lost is None else lost
    if lost is None:
        return NOT_MEASURED
    amount = "less than 0.0001" if lost < 1e-4 else f"{lost:.2g}" if lost < 0.1 else f"{lost:,.2f}"
    meaning = "" if game.players == 2 else ": winnings of a best response against two of it"
    return f"exploitable for {amount} {game.unit} a hand (exact{meaning})"


def weakness(name: str, game: Game) -> float:
    """Sorts the bots of a game: lower is stronger, infinite if not measured."""
    if game.is_enumerable:
        return exact_results().get((game.name, name), math.inf)
    if not _is_measured(game):
        return math.inf
    if game.players == 3:
        won = three_handed_results().get(name)
        return -won.mean if won else math.inf
    results = heads_up_results().get(name)
    return -mean_of([*results.values()]).mean if results else math.inf


def exact(name: str, game: Game) -> float | None:
    """The exploitability of a bot in an enumerated game; None if it has no tabular policy."""
    tree = compile_game(game)
    table = load_bot(name, game).kernel_table(tree)
    return None if table is None else exploitability(TabularPolicy(tree, table)).exploitability


def write_exact(games: Sequence[str]) -> None:
    """Measure all included bots in these games, and write the results to EXACT."""
    lines = ["game,bot,exploitability"]
    for game in map(load_game, games):
        for name in (name for name, kind in BOTS.items() if kind.plays(game)):
            lost = exact(name, game)
            if lost is not None:
                lines.append(f'"{game.name}",{name},{lost!r}')
    write_text(RESULTS / EXACT, "\n".join(lines) + "\n")


def _is_measured(game: Game) -> bool:
    """Whether matches of this game were played: hold'em with the standard number of bets."""
    return game.unabstracted == Holdem(game.players)


def _strength_by_matches(name: str, players: int) -> str:
    if players == 3:
        return _strength_three_handed(name)
    won = heads_up_results().get(name)
    if won is None:
        return NOT_MEASURED
    others = f"the other {len(won)} bots on average"
    opponent, note = DEFAULT, ""
    if name == DEFAULT:
        opponent, note = min(won, key=lambda other: won[other].mean), ", its worst result"
    return f"{_result(mean_of([*won.values()]), others)}; {_result(won[opponent], f'`{opponent}`')}{note}"


def _strength_three_handed(name: str) -> str:
    won = three_handed_results()
    if name not in won:
        return NOT_MEASURED
    if name != REFERENCE:
        return _result(won[name], f"two `{REFERENCE}`")
    lose = all(amount.mean < -amount.interval for other, amount in won.items() if other != name)
    return f"the reference opponent in three-handed matches{'; all other bots lose to it' if lose else ''}"


def _result(won: Amount, opponent: str) -> str:
    size = f"{abs(won.mean):,.0f} ± {won.interval:,.0f} mbb/h"
    if abs(won.mean) <= won.interval:
        return f"about even with {opponent} ({won.mean:+z,.0f} ± {won.interval:,.0f} mbb/h)"
    return f"wins {size} from {opponent}" if won.mean > 0 else f"loses {size} to {opponent}"


@cache
def exact_results() -> dict[tuple[str, str], float]:
    """Exploitability by game and bot, in the game's unit."""
    return {(row["game"], row["bot"]): float(row["exploitability"]) for row in _rows(EXACT)}


@cache
def heads_up_results() -> dict[str, dict[str, Amount]]:
    """Winnings of each bot from each other bot in two-player hold'em, in mbb/h."""
    found: dict[str, dict[str, Amount]] = {}
    for row in _rows(HEADS_UP):
        amount = Amount(float(row["won"]), float(row["interval_95"]))
        found.setdefault(row["bot"], {})[row["against"]] = amount
    return found


@cache
def three_handed_results() -> dict[str, Amount]:
    """Winnings of each bot against two of REFERENCE in three-player hold'em, in mbb/h."""
    return {row["row"]: Amount(float(row["won"]), float(row["half_95"])) for row in _rows(THREE_HANDED)}


def _rows(file: str) -> list[dict[str, str]]:
    with (RESULTS / file).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))
