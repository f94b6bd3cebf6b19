"""Replay of a finished hand: the table after each step, and the bots' action probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from openfelt.bots.bot import Bot
from openfelt.bots.view import view_of
from openfelt.cards.deck import BOARD_CARDS
from openfelt.games.game import CHANCE
from openfelt.games.hand import Hand, Thought
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord
from openfelt.table.lobby.characters import title_of
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.presentation.text import YOU
from openfelt.table.review.bot_policies import thought_of
from openfelt.table.review.ev_loss import EvLosses
from openfelt.table.review.luck_adjusted import HoldemLuck
from openfelt.table.session.fair_dealing import commitment
from openfelt.table.session.hand_log import action_label, distinct_names, events, hand_log, result_lines
from openfelt.table.session.session import BotSource
from openfelt.table.session.session_store import HandRow
from openfelt.table.session.table_hand import NO_SEAT, TableHand
from openfelt.table.session.visibility import BETS, PAID, action_buttons, table_state


def replay_hand(row: HandRow, record: HandRecord, get_bot: BotSource) -> TableHand:
    """A finished hand at its end, with the same bots."""
    game = load_game(record.game)
    bots = {seat: get_bot(name, game) for seat, name in enumerate(record.names) if seat != row.seat}
    live = TableHand(game, bots, row.seat, row.seed, row.nonce)
    live.replay(record.actions)
    return live


def review(row: HandRow, record: HandRecord, live: TableHand, person: str = YOU) -> dict[str, Any]:
    """A whole hand step by step, ready for JSON; `live` is at its end, `person` the name of who played."""
    titles = [person if seat == row.seat else title_of(name) for seat, name in enumerate(record.names)]
    hand, names = live.hand, distinct_names(titles, row.seat)
    steps = events(hand, row.seat, names)
    ends = [first for first, _ in steps[1:]] + [len(hand.steps)]
    equities = hand_equities(hand, row.seat, ends)
    return {
        "game": record.game,
        "title": presentation_of(hand.game).title,
        "unit": hand.game.unit,
        "number": row.number,
        "seat": row.seat,
        "names": names,
        "won": record.won,
        "luck_free": row.luck_free,
        "commitment": commitment(row.seed),
        "seed": row.seed,
        "nonce": row.nonce,
        "account": hand_log(hand, row.seat, names, row.number),
        "steps": [
            {**step_facts(live, first, end, text, names), "equities": shares}
            for (first, text), end, shares in zip(steps, ends, equities, strict=True)
        ],
        "end": _table(hand, row.seat, names),
        "result": " ".join(result_lines(hand, row.seat, names)),
    }


def hand_equities(hand: Hand, seat: int, ends: Sequence[int]) -> list[list[float | None] | None]:
    """After each step of the review, the equity of each seat in the pot; None in games without it."""
    game = hand.game
    if not isinstance(game, Holdem):
        return [None] * len(ends)
    luck, states = HoldemLuck(hand, game, seat), (*hand.states, hand.state)
    streets = [BOARD_CARDS.index(len(game.board(states[end]))) for end in ends]
    return [luck.equities(states[end].betting, street) for end, street in zip(ends, streets, strict=True)]


def losses_json(hand: Hand, seat: int, names: Sequence[str], found: EvLosses) -> dict[str, Any]:
    """EV losses ready for JSON; steps are numbered as in the review."""
    place = {first: each for each, (first, _) in enumerate(events(hand, seat, names))}
    decisions = []
    for decision in found.decisions:
        state = hand.states[decision.step]
        words = hand.steps[decision.step].actions
        numbers = decision.values, decision.losses, decision.intervals, decision.value_intervals
        columns = zip(words, *numbers, strict=True)
        actions = [
            {
                "word": word,
                "label": action_label(hand.game, state, word),
                "value": value,
                "loss": loss,
                "interval": interval,
                "value_interval": value_interval,
            }
            for word, value, loss, interval, value_interval in columns
        ]
        decisions.append({"step": place[decision.step], "actions": actions})
    return {"explain": found.explain, "exact": found.exact, "decisions": decisions}


def _table(hand: Hand, seat: int, names: Sequence[str], stage: str = PAID) -> dict[str, Any]:
    """The table with all cards open; `shown` marks those that the person could see at the time."""
    return table_state(hand, seat, names, None, all_cards=True, stage=stage)


def step_facts(live: TableHand, number: int, end: int, text: str, names: Sequence[str]) -> dict[str, Any]:
    """A step with all cards open, ready for JSON."""
    step = live.hand.steps[number]
    state = {
        "mover": step.mover,
        "text": text,
        "word": step.action,
        "table": _table(live.hand.before(end), live.seat, names, BETS),
        "actions": [],
        "chosen": None,
        "thoughts": [],
    }
    if step.mover == CHANCE:
        return state
    return {**state, **decision_facts(live, number, names)}


def decision_facts(live: TableHand, number: int, names: Sequence[str]) -> dict[str, Any]:
    """The actions at a decision, which was taken, and the bots' probabilities, ready for JSON."""
    hand, step = live.hand.before(number), live.hand.steps[number]
    if live.seat == NO_SEAT:
        thoughts = [
            _thought(hand, names[seat], step.thought if own else _think(bot, hand), own=own)
            for seat, bot in sorted(live.bots.items(), key=lambda each: each[0] != step.mover)
            if (own := seat == step.mover) or not (bot.learns or bot is live.bots[step.mover])
        ]
    elif step.mover == live.seat:
        advisers = {id(bot): (bot, names[seat]) for seat, bot in live.bots.items() if not bot.learns}
        is_shared = len(advisers) < len(live.bots)  # one bot in two seats
        thoughts = [
            _thought(hand, name.rpartition(" ")[0] if is_shared else name, _think(bot, hand), own=False)
            for bot, name in advisers.values()
        ]
    else:
        thoughts = [_thought(hand, names[step.mover], step.thought, own=True)]
    known = [thought for thought in thoughts if thought]
    return {"actions": action_buttons(hand), "chosen": step.number, "thoughts": known}


def _think(bot: Bot, hand: Hand) -> Thought | None:
    """The probabilities of a bot in the person's place."""
    try:
        return thought_of(bot, view_of(hand))
    except Exception:  # a user's own bot failed; nothing is shown then
        return None


def _thought(hand: Hand, name: str, thought: Thought | None, *, own: bool) -> dict[str, Any] | None:
    if thought is None:
        return None
    infoset, _, bucket = thought.infoset.partition(" (")
    return {
        "by": name,
        "own": own,
        "knew": presentation_of(hand.game).infoset_text(hand, infoset),
        "bucket": bucket.removesuffix(")"),
        "probabilities": thought.probabilities,
        "visits": thought.visits,
        "values": [None if math.isnan(value) else value for value in thought.values],
    }
