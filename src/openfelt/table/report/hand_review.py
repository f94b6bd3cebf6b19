"""The review of hands from elsewhere: where a player loses money, if everyone else played a strong policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import singledispatch

import numpy as np

from openfelt.bots.learned import EQUILIBRIUM
from openfelt.bots.registry import load_bot
from openfelt.core.errors import FeltError, unknown
from openfelt.games.cash_holdem import CashHoldem
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import CHANCE, Game
from openfelt.games.holdem import BIG_BLIND, Holdem
from openfelt.hands.check import replay
from openfelt.hands.record import HIDDEN, HandRecord
from openfelt.measure.action_values import action_values
from openfelt.policy.tabular import uniform_policy
from openfelt.table.presentation.presentation import RAISE
from openfelt.table.presentation.registry import PRESENTATIONS, presentation_of
from openfelt.table.report.decisions import Decision, DecisionTable, decision_table, situation_after
from openfelt.table.report.report import Report, Results, make_report
from openfelt.table.report.style import game_of, styles

Progress = Callable[[float], object]
HoldemLosses = Callable[[Sequence[HandRecord], Sequence[int], Progress], DecisionTable]
TREMBLE = 1e-9  # probability of a random action, for infosets that the equilibrium never reaches
EXACT = "Exact EV losses, if the others play an equilibrium and you continue with a best response."
ESTIMATED = (
    "EV losses if the others play as {policy}: exact on the river, elsewhere estimated from rollouts in which"
    " you continue as {policy} too."
)
NO_POLICY = "EV losses are not available: there is no strong policy of this game to compare with."
HIDDEN_CARDS = " Hands in which your cards are hidden have no EV losses."


def group_of(record: HandRecord) -> str:
    """Hands of one group can be reviewed together: the rules, without abstraction, stacks and blinds."""
    game = game_of(record)
    if isinstance(game, CashHoldem):
        return f"{'limit' if game.limit else 'no-limit'} cash games"
    return game.unabstracted.name


def choose_hands(records: Iterable[HandRecord], game: str | None = None) -> tuple[list[HandRecord], int]:
    """The hands of one game, by default of the most frequent one; and how many others there are."""
    groups: dict[str, list[HandRecord]] = {}
    for record in records:
        groups.setdefault(group_of(record), []).append(record)
    if game is not None and game not in groups:
        raise FeltError(unknown("game of these hands", game, groups))
    if not groups:
        raise FeltError("There are no hands to review.")
    chosen = groups[game] if game is not None else max(groups.values(), key=len)
    return chosen, sum(map(len, groups.values())) - len(chosen)


def choose_player(records: Sequence[HandRecord], player: str | None = None) -> str:
    """The player to review: by default the one whose cards are known in most hands, if there is one."""
    known = Counter[str]()
    for record in records:
        size = PRESENTATIONS[game_of(record).key].hole_size if game_of(record).key in PRESENTATIONS else 2
        for seat, name in enumerate(record.names):
            known[name] += HIDDEN not in record.dealt[size * seat : size * (seat + 1)]
    if player is not None:
        if player not in known:
            raise FeltError(unknown("player", player, known))
        return player
    (first, most), *rest = known.most_common(2)
    if rest and rest[0][1] == most:
        raise FeltError(f"Whose hands are to be reviewed? Give --player, for example --player '{first}'.")
    return first


def review_hands(
    records: Sequence[HandRecord],
    player: str,
    holdem_losses: HoldemLosses | None,
    policy: str,
    progress: Progress,
) -> Report:
    """The report on a player; `holdem_losses` reviews two-player limit hold'em against `policy`."""
    own = [record for record in records if player in record.names]
    if not own:
        raise FeltError(f"{player} plays in none of the hands.")
    seats = [record.names.index(player) for record in own]
    game = game_of(own[0])
    decisions, explain = None, NO_POLICY
    if holdem_losses and game.unabstracted == Holdem():
        decisions, explain = holdem_losses(own, seats, progress), ESTIMATED.format(policy=policy)
        explain += HIDDEN_CARDS * any(map(_is_hidden, own, seats))
    elif game.is_enumerable:
        decisions, explain = _exact_losses(game, own, seats, progress), EXACT
    won = np.array([record.won[seat] / blind_of(record) for record, seat in zip(own, seats, strict=True)])
    blind = None if game.is_enumerable else 1.0
    if decisions is not None and blind:
        decisions = replace(decisions, loss=decisions.loss / BIG_BLIND, error=decisions.error / BIG_BLIND)
    return make_report(Results(won, None, blind), decisions, explain, styles(own))


def blind_of(record: HandRecord) -> float:
    """The big blind of a hand in chips; 1 in games without blinds."""
    return _blind(game_of(record))


@singledispatch
def _blind(game: Game) -> float:
    return 1.0


@_blind.register
def _(game: Holdem) -> float:
    return float(BIG_BLIND)


@_blind.register
def _(game: CashHoldem) -> float:
    return float(game.blind)


def _is_hidden(record: HandRecord, seat: int) -> bool:
    return HIDDEN in record.dealt[2 * seat : 2 * seat + 2]


def _exact_losses(
    game: Game, records: Sequence[HandRecord], seats: Sequence[int], progress: Progress
) -> DecisionTable:
    if game.key not in PRESENTATIONS:
        raise FeltError(f"Hands of {game.name} cannot be reviewed; those of kuhn, leduc and holdem can.")
    tree, presentation = compile_game(game), presentation_of(game)
    table = load_bot(EQUILIBRIUM, game).kernel_table(tree)
    assert table is not None
    profile = (1 - TREMBLE) * np.asarray(table) + TREMBLE * uniform_policy(tree).probabilities
    values = {seat: action_values(tree, profile, seat) for seat in set(seats)}
    found = []
    for hand, (record, seat) in enumerate(zip(records, seats, strict=True)):
        node, street, raises = 0, "", 0
        for step in replay(record).steps:
            actions = game.actions(step.state)
            number = list(actions).index(step.word)
            if step.mover != CHANCE:
                now = presentation.chips(step.state).street
                street, raises = now, raises if now == street else 0
                if step.mover == seat:
                    worth = values[seat][tree.slots(int(tree.nodes.row[node]))]
                    best = number if worth[number] == worth.max() else int(worth.argmax())
                    chosen, better = (
                        presentation.action_name(step.state, actions[each]) for each in (number, best)
                    )
                    loss = max(0.0, float(worth.max() - worth[number]))
                    found.append(Decision(hand, street, situation_after(raises), chosen, better, loss, 0.0))
                raises += presentation.action_kind(step.state, step.word) == RAISE
            node = int(tree.nodes.first_child[node]) + number
        progress(1 / len(records))
    return decision_table(found)
