"""The strength of bots in words: exact exploitability where it is known, else match results.

The results are stored in files (`strengths/`), because the lobby must not wait for bots that train first.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from openfelt.arena.tournament import Amount
from openfelt.bots.registry import BOTS, load_bot
from openfelt.core.files import write_text
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.measure.exploitability import exploitability
from openfelt.policy.tabular import TabularPolicy
from openfelt.table.lobby.characters import title_of

NOT_MEASURED = "not measured; use `felt match`"
REFERENCE = "poki-like"  # opponent in three-player matches
RESULTS = Path(__file__).parent / "strengths"
EXACT, HOLDEM_EXACT = "exact.csv", "holdem_exact.csv"
HEADS_UP, THREE_HANDED = "holdem.csv", "holdem_3.csv"
CACHE_SIZE = 256
UNIFORM = "random"  # the bot that levels are relative to
# Names of the levels, with the highest weakness relative to UNIFORM.
LEVELS = (("Expert", 0.03), ("Hard", 0.15), ("Medium", 0.35), ("Easy", 0.7), ("Beginner", math.inf))


@lru_cache(maxsize=CACHE_SIZE)
def strength(name: str, game: Game) -> str:
    """The strength of a bot of `bots_for`."""
    if not game.is_enumerable:
        return _strength_by_matches(name, game.players) if _is_measured(game) else NOT_MEASURED
    lost = exact_results().get((game.name, name))
    if lost is None and not (name in BOTS and (game.name, UNIFORM) in exact_results()):
        lost = exact(name, game)
    if lost is None:
        return NOT_MEASURED
    amount = "less than 0.0001" if lost < 1e-4 else f"{lost:.2g}" if lost < 0.1 else f"{lost:,.2f}"
    meaning = "" if game.players == 2 else ": winnings of a best response against two of it"
    return f"exploitable for {amount} {game.unit} a hand (exact{meaning})"


def weakness(name: str, game: Game) -> float:
    """Sorts the bots of a game: lower is stronger, infinite if not measured.

    The exploitability where it is known. In hold'em other bots come after those that beat them.
    """
    if game.is_enumerable:
        return exact_results().get((game.name, name), math.inf)
    if not _is_measured(game):
        return math.inf
    if game.players == 3:
        won = three_handed_results().get(name)
        return -won.mean if won else math.inf
    known = holdem_exact_results()
    if name in known:
        return known[name]
    results = heads_up_results().get(name)
    if results is None:
        return math.inf
    lost = {other: -won.mean for other, won in results.items() if won.mean < -won.interval}
    return max([0.0, *lost.values(), *(known[other] for other in lost if other in known)])


def level(name: str, game: Game) -> str:
    """Expert, Hard, Medium, Easy or Beginner; empty if the bot is not measured."""
    own, most = weakness(name, game), weakness(UNIFORM, game)
    if not math.isfinite(own) or not math.isfinite(most):
        return ""
    return next(word for word, highest in LEVELS if own <= highest * most)


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
    if name in holdem_exact_results():
        return f"exploitable for {_both_units(holdem_exact_results()[name])}, exact"
    won = heads_up_results().get(name)
    if won is None:
        return NOT_MEASURED
    worst = min(won, key=lambda other: won[other].mean)
    return f"{_result(won[worst], title_of(worst))}, its worst result; exploitability not known"


def _strength_three_handed(name: str) -> str:
    won = three_handed_results()
    if name not in won:
        return NOT_MEASURED
    if name != REFERENCE:
        return _result(won[name], f"two of {title_of(REFERENCE)}")
    lose = all(amount.mean < -amount.interval for other, amount in won.items() if other != name)
    return f"the reference opponent in three-handed matches{'; all other bots lose to it' if lose else ''}"


def _both_units(mbb: float, interval: float = 0.0) -> str:
    """Winnings of hold'em in bb/100, with mbb/h beside: "8.3 bb/100 (83 mbb/h)"."""
    spread = f" ± {interval / 10:,.1f}" if interval else ""
    return f"{mbb / 10:,.1f}{spread} bb/100 ({mbb:,.0f} mbb/h)"


def _result(won: Amount, opponent: str) -> str:
    if abs(won.mean) <= won.interval:
        return f"about even with {opponent} ({won.mean / 10:+z,.1f} ± {won.interval / 10:,.1f} bb/100)"
    size = _both_units(abs(won.mean), won.interval)
    return f"wins {size} from {opponent}" if won.mean > 0 else f"loses {size} to {opponent}"


@cache
def exact_results() -> dict[tuple[str, str], float]:
    """Exploitability by game and bot, in the game's unit."""
    return {(row["game"], row["bot"]): float(row["exploitability"]) for row in _rows(EXACT)}


@cache
def holdem_exact_results() -> dict[str, float]:
    """Exact exploitability of bots in two-player hold'em, in mbb/h."""
    return {
        row["player"]: float(row["exploitability"]) for row in _rows(HOLDEM_EXACT) if row["player"] in BOTS
    }


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
