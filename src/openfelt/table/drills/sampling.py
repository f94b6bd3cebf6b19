"""Drills from simulated hands between bots: a chosen spot, or any decision."""

from __future__ import annotations

import random
import time
from typing import NamedTuple

from openfelt.bots.bot import Bot
from openfelt.core.errors import FeltError
from openfelt.games.game import Game
from openfelt.table.drills.drill import BOT, NOBODY, PERSON, Drill, spot_of
from openfelt.table.lobby.lobby import usual_bot
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.presentation.text import YOU
from openfelt.table.report.decisions import SITUATIONS
from openfelt.table.session.fair_dealing import new_seed
from openfelt.table.session.session import BotSource
from openfelt.table.session.table_hand import NO_SEAT, TableHand

PATIENCE = 3.0  # seconds of simulated hands
INITIATIVES = (NOBODY, PERSON, BOT)
RARE = "No hand in {hands:,} simulated ones came to this spot; choose a wider one."
UNSUITABLE = "{name} decides by search or formula; drills need a bot that plays by a policy or a rule."


class Spot(NamedTuple):
    """What a decision must be like; an empty text stands for any."""

    street: str = ""
    position: str = ""
    situation: str = ""
    initiative: str = ""


def parse_spot(game: Game, fields: dict[str, object]) -> Spot:
    """The spot of a request; raises FeltError if the game has none like it."""
    presentation = presentation_of(game)
    allowed = {
        "street": presentation.streets,
        "position": [presentation.position(seat) for seat in range(game.players)],
        "situation": SITUATIONS,
        "initiative": INITIATIVES,
    }
    for name, values in allowed.items():
        if fields.get(name, "") not in ("", *values):
            raise FeltError(f"The {name} must be one of: {', '.join(values)}.")
    return Spot(*(str(fields.get(name, "")) for name in Spot._fields))


def require_suitable(bot: Bot, name: str) -> None:
    """Raise if a decision against this bot cannot be judged at once."""
    if bot.learns or not (bot.game.is_enumerable or bot.plays_in_kernels):
        raise FeltError(UNSUITABLE.format(name=name))


def sample_drill(game: Game, name: str, spot: Spot, get_bot: BotSource) -> Drill:
    """A decision against a bot in a two-player game; the person's earlier actions are those of the usual bot.

    Streets are equally likely if none is chosen, so that later ones are not rare.
    """
    if game.players != 2:
        raise FeltError("Drills are for two-player games.")
    bot, own = get_bot(name, game), get_bot(usual_bot(game), game)
    require_suitable(bot, name)
    dice, hands, presentation = random.SystemRandom(), 0, presentation_of(game)
    streets = [spot.street] if spot.street else dice.sample(presentation.streets, len(presentation.streets))
    for street in streets:
        wanted, end = spot._replace(street=street), time.monotonic() + PATIENCE / len(streets)
        while time.monotonic() < end:
            seat, seed = dice.randrange(game.players), new_seed()
            if wanted.position not in ("", presentation.position(seat)):
                continue
            hands += 1
            live = TableHand(game, {seat: own, 1 - seat: bot}, NO_SEAT, seed, "")
            live.advance()
            found = [
                place
                for place, step in enumerate(live.hand.steps)
                if step.mover == seat and _matches(wanted, spot_of(live, place, seat))
            ]
            if found:
                taken = live.hand.steps[: dice.choice(found)]
                actions = tuple(step.action for step in taken if step.mover >= 0)
                names = (YOU, name) if seat == 0 else (name, YOU)
                return Drill(game.name, names, seat, seed, "", actions)
    raise FeltError(RARE.format(hands=hands))


def _matches(spot: Spot, found: tuple[str, str, str]) -> bool:
    wanted = spot.street, spot.situation, spot.initiative
    return all(want in ("", have) for want, have in zip(wanted, found, strict=True))
