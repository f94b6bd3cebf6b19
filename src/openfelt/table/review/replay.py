"""A finished hand looked at again: the table before each step, and what the bots thought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openfelt.bots.bot import Bot
from openfelt.bots.view import view_of
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.hand import Hand, Thought
from openfelt.games.kuhn import Kuhn
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord
from openfelt.table.lobby.lobby import title
from openfelt.table.review.bot_policies import thought_of
from openfelt.table.review.ev_loss import Losses
from openfelt.table.session.chips import plain_word
from openfelt.table.session.fair_dealing import commitment
from openfelt.table.session.session import MakeBot
from openfelt.table.session.session_store import HandRow
from openfelt.table.session.table_hand import TableHand
from openfelt.table.session.visibility import actions_of, table_of
from openfelt.table.session.wording import account, action_label, ending, happenings, hole_cards, told_apart


def hand_again(row: HandRow, record: HandRecord, make_bot: MakeBot) -> TableHand:
    """A finished hand, played again to its end by the same bots."""
    game = load_game(record.game)
    bots = {seat: make_bot(name, game) for seat, name in enumerate(record.names) if seat != row.seat}
    live = TableHand(game, bots, row.seat, row.seed, row.nonce)
    live.repeat(record.actions)
    return live


def review(row: HandRow, record: HandRecord, live: TableHand) -> dict[str, Any]:
    """All of a hand, step by step; `live` is at its end."""
    hand, names = live.hand, told_apart(record.names, row.seat)
    return {
        "game": record.game,
        "title": title(hand.game),
        "unit": hand.game.unit,
        "number": row.number,
        "seat": row.seat,
        "names": names,
        "won": record.won,
        "luck_free": row.luck_free,
        "commitment": commitment(row.seed),
        "seed": row.seed,
        "nonce": row.nonce,
        "account": account(hand, row.seat, names, row.number),
        "steps": [_step(live, first, text, names) for first, text in happenings(hand, row.seat, names)],
        "end": _table(hand, row.seat, names),
        "result": " ".join(ending(hand, row.seat, names)),
    }


def losses_shown(hand: Hand, seat: int, names: Sequence[str], found: Losses) -> dict[str, Any]:
    """What each action of the person was worth; steps are numbered as in the review."""
    place = {first: each for each, (first, _) in enumerate(happenings(hand, seat, names))}
    decisions = []
    for decision in found.decisions:
        state = hand.states[decision.step]
        words = hand.steps[decision.step].actions
        columns = zip(words, decision.values, decision.losses, decision.intervals, strict=True)
        actions = [
            {
                "word": word,
                "label": action_label(hand.game, state, word),
                "value": value,
                "loss": loss,
                "interval": interval,
            }
            for word, value, loss, interval in columns
        ]
        decisions.append({"step": place[decision.step], "actions": actions})
    return {"explain": found.explain, "exact": found.exact, "decisions": decisions}


def _table(hand: Hand, seat: int, names: Sequence[str]) -> dict[str, Any]:
    """All cards open, with a note which of them the person could see then."""
    table = table_of(hand, seat, names, None, everything=True)
    for each, found in enumerate(table["seats"]):
        found["shown"] = each == seat or hand.mover == TERMINAL
    return table


def _step(live: TableHand, number: int, text: str, names: Sequence[str]) -> dict[str, Any]:
    hand, step = live.hand.before(number), live.hand.steps[number]
    found = {
        "mover": step.mover,
        "text": text,
        "word": step.action,
        "table": _table(hand, live.seat, names),
        "actions": [],
        "chosen": None,
        "thoughts": [],
    }
    if step.mover == CHANCE:
        return found
    if step.mover == live.seat:
        asked = {id(bot): (bot, names[seat]) for seat, bot in live.bots.items() if not bot.learns}
        shared = len(asked) < len(live.bots)  # two of the same
        thoughts = [
            _thought(hand, name.rpartition(" ")[0] if shared else name, _think(bot, hand), own=False)
            for bot, name in asked.values()
        ]
    else:
        thoughts = [_thought(hand, names[step.mover], step.thought, own=True)]
    known = [thought for thought in thoughts if thought]
    return {**found, "actions": actions_of(hand), "chosen": step.number, "thoughts": known}


def _think(bot: Bot, hand: Hand) -> Thought | None:
    """What a bot would have done in the person's place."""
    try:
        return thought_of(bot, view_of(hand))
    except Exception:  # somebody's own bot; nothing is shown of it then
        return None


def _thought(hand: Hand, name: str, thought: Thought | None, *, own: bool) -> dict[str, Any] | None:
    if thought is None:
        return None
    knew, _, went_by = thought.infoset.partition(" (")
    if isinstance(hand.game, Kuhn):  # whose rules have only two words for what players do
        steps = zip(hand.steps, hand.states, strict=True)
        words = [plain_word(hand.game, state, step.action) for step, state in steps if step.mover != CHANCE]
        knew = " ".join([*hole_cards(hand, hand.mover), *words])
    return {
        "by": name,
        "own": own,
        "knew": knew,
        "bucket": went_by.removesuffix(")"),
        "probabilities": thought.probabilities,
    }
