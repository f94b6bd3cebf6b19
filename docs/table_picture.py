"""Creates docs/table.png: the table in the middle of a hand of hold'em against `default`, after sixty hands.

It needs Chromium and the packages of `make test` (Playwright, Pillow). In the root of the repository:

    .venv/bin/python docs/table_picture.py

Seeds are fixed, and the nonce is the first with which the hand gets that far.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import random
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from openfelt.bots.bot import Bot
from openfelt.bots.view import view_of
from openfelt.games.registry import load_game
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.review.bot_policies import thought_of
from openfelt.table.session.hand_log import action_key
from openfelt.table.session.session import Session
from openfelt.table.session.session_store import SessionStore
from openfelt.table.session.table_hand import TableHand
from openfelt.table.web.app import make_app
from openfelt.table.web.server import bind

PICTURE = Path(__file__).with_name("table.png")
GAME, BOT, HANDS, STREET = "holdem", "default", 60, "turn"
SIZE, SCALE, COLOURS = {"width": 1280, "height": 800}, 1.5, 256
SMALL_POT = 9  # bet up to here, then call
SAME_NONCE = "crypto.getRandomValues = (bytes) => bytes.fill(%d);"
INSTANT = """localStorage["felt.settings"] = JSON.stringify({ speed: "instant" });"""


def main() -> None:
    """Play the hands, serve the table, take the picture."""
    seeds = mock.patch(
        "openfelt.table.session.session.new_seed", side_effect=map(_digest, itertools.count(1000))
    )
    with seeds, tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "table.db")
        session, nonce = play(database)
        with served(database) as url:
            picture = _picture(f"{url}/play/{session}", nonce)
    picture.save(PICTURE, optimize=True)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size:,} bytes")


def _digest(number: int) -> str:
    return hashlib.sha256(b"table picture %d" % number).hexdigest()


def play(database: Path, hands: int = HANDS) -> tuple[str, int]:
    """Play a session in which the person plays as the bot would; returns its id and a byte for a nonce."""
    store, bots, dice = SessionStore(database), BotPool(), random.Random(1)
    row = store.begin(GAME, [BOT], _digest(0))
    session, bot = Session(store, row, bots.get), bots.get(BOT, load_game(GAME))
    for number in range(1, hands + 1):
        session.deal(number, _digest(number)[:32])
        while session.hand_is_on and session.live is not None:
            hand = session.live.hand
            word = dice.choices(hand.actions, thought_of(bot, view_of(hand)).probabilities)[0]
            session.act(number, len(session.live.actions), word)
    seed, seat = store.session(row.id).seed, hands % 2
    store.close()
    return row.id, next(byte for byte in range(256) if _gets_there(bot, seat, seed, f"{byte:02x}" * 16))


def _gets_there(bot: Bot, seat: int, seed: str, nonce: str) -> bool:
    """Whether the bot bets in the street of the picture."""
    live = TableHand(bot.game, {1 - seat: bot}, seat, seed, nonce)
    live.advance()
    while not live.over:
        chips = presentation_of(bot.game).chips(live.hand.state)
        if chips.street == STREET and max(chips.bets) > 0:
            return True
        keys = {action_key(bot.game, live.hand.state, word): word for word in live.hand.actions}
        live.act(keys[_key(sum(chips.paid))])
    return False


def _key(pot: float) -> str:
    return "r" if pot < SMALL_POT else "c"


@contextmanager
def served(database: Path) -> Iterator[str]:
    """The address of a server on the database."""
    listening = bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(make_app(database), log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def launch(playwright: Playwright) -> Browser:
    """Chromium without a window."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    return playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])


def _picture(address: str, nonce: int) -> Image.Image:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport=SIZE, device_scale_factor=SCALE, color_scheme="light")
        page.add_init_script(SAME_NONCE % nonce + INSTANT)
        page.goto(address)
        play_to(page, STREET)
        page.evaluate("scrollTo(0, 0)")
        page.mouse.move(0, 0)
        taken = page.screenshot(animations="disabled")
        browser.close()
    whole = Image.open(io.BytesIO(taken)).convert("RGB")
    return whole.quantize(COLOURS, kmeans=8)


def play_to(page: Page, street: str) -> None:
    """Deal, bet first and call later, until the bot bets in that street."""
    page.locator("#next-hand").click()
    page.locator("[data-action]:enabled").first.wait_for()
    while not (page.locator(f"[data-street={street}]").count() and page.locator("[data-kind=fold]").count()):
        shown = page.locator("#actions").get_attribute("data-shown")
        pot = float(page.locator("[data-pot]").get_attribute("data-pot") or 0)
        page.keyboard.press(_key(pot))
        page.locator(f"#actions:not([data-shown='{shown}']) [data-action]").first.wait_for()


if __name__ == "__main__":
    main()
