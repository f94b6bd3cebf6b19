"""Pictures of all main pages at 1280x800 and 390x844, light and dark, in build/pictures: to be looked at.

It needs Chromium and the packages of `make test`. In the root of the repository:

    .venv/bin/python docs/page_pictures.py [PAGE ...]

Each picture shows a page in both sizes and both themes side by side.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from table_picture import INSTANT, SAME_NONCE, STREET, launch, play, play_to, served

from openfelt.table.session.session_store import SessionStore

FOLDER = Path(__file__).parent.parent / "build" / "pictures"
SIZES = (
    {"viewport": {"width": 1280, "height": 800}},
    {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
)
HANDS = 12  # so that the report is soon done
SCHEMES = ("light", "dark")
MOST_HEIGHT, GAP, BACKGROUND = 1700, 12, "#808080"
TO_LOAD = 400_000  # milliseconds
Visit = Callable[[Page], None]


def main() -> None:
    """Play a session, open every page four times, save the pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "table.db")
        session, nonce = play(database, HANDS)
        with SessionStore(database) as store:
            link = next(row.link for row in store.table_hands(session) if len(store.record(row).dealt) == 9)
        with served(database) as url, sync_playwright() as playwright:
            browser = launch(playwright)
            for name, (path, visit) in pages(session, link).items():
                if name in sys.argv[1:] or not sys.argv[1:]:
                    _sheet(browser, url + path, visit, nonce).save(FOLDER / f"{name}.png")
                    print(FOLDER / f"{name}.png", flush=True)


def pages(session: str, link: str) -> dict[str, tuple[str, Visit]]:
    """The path of each page, and what is done there first."""
    return {
        "lobby": ("/", lambda page: page.locator("#sit-down:enabled").wait_for()),
        "table": (f"/play/{session}", _table),
        "settings": (f"/play/{session}", _settings),
        "review": (f"/hand/{link}", _review),
        "report": (f"/report/{session}", lambda page: page.locator("#main[data-ready]").wait_for()),
        "ranges": ("/policy?game=holdem&bot=default", lambda page: page.locator("#matrix").wait_for()),
        "grid": ("/policy?game=leduc&bot=equilibrium", lambda page: page.locator(".grid").first.wait_for()),
        "spot": ("/spot", lambda page: page.wait_for_timeout(1000)),
        "drills": ("/drill?kind=spot", lambda page: page.locator("#start:enabled").wait_for()),
        "drill": ("/drill", _drill),
        "verdict": ("/drill", _verdict),
        "spectate": ("/spectate", _spectate),
    }


def _table(page: Page) -> None:
    """In the middle of a hand; the first visit deals it."""
    page.locator("#main[data-connected=true]").wait_for()
    if page.locator("#next-hand").count():
        play_to(page, STREET)


def _settings(page: Page) -> None:
    page.locator("#show-settings").click()


def _review(page: Page) -> None:
    page.locator("#main[data-ready] #losses[aria-busy=false]").wait_for()
    page.locator("#ranges-panel summary").click()
    page.locator("#ranges [data-range]").first.wait_for()


def _drill(page: Page) -> None:
    page.locator("#start:enabled").click()
    page.locator("[data-action]").first.wait_for()


def _verdict(page: Page) -> None:
    for _ in range(3):
        if page.locator("#next-drill").count():
            page.locator("#next-drill").click()
        else:
            page.locator("#start:enabled").click()
        page.locator("[data-action]").first.wait_for()
        page.wait_for_timeout(500)  # until the buttons react
        page.locator("[data-action]").first.click()
        page.locator("#next-drill").wait_for()


def _spectate(page: Page) -> None:
    page.locator("#begin:enabled").click()
    page.locator("#table[data-step]").wait_for()
    page.locator("#step-on").click()
    page.locator("#ranges-panel summary").click()
    page.locator("#ranges [data-range]").first.wait_for()


def _sheet(browser: Browser, address: str, visit: Visit, nonce: int) -> Image.Image:
    shots = []
    for size in SIZES:
        for scheme in SCHEMES:
            context = browser.new_context(color_scheme=scheme, **size)
            context.set_default_timeout(TO_LOAD)
            page = context.new_page()
            page.add_init_script(SAME_NONCE % nonce + INSTANT)
            page.goto(address)
            visit(page)
            page.evaluate("scrollTo(0, 0)")
            page.mouse.move(0, 0)
            taken = page.screenshot(full_page=True, animations="disabled")
            whole = Image.open(io.BytesIO(taken)).convert("RGB")
            shots.append(whole.crop((0, 0, whole.width, min(whole.height, MOST_HEIGHT))))
            context.close()
    width = sum(shot.width + GAP for shot in shots) - GAP
    sheet = Image.new("RGB", (width, max(shot.height for shot in shots)), BACKGROUND)
    left = 0
    for shot in shots:
        sheet.paste(shot, (left, 0))
        left += shot.width + GAP
    return sheet


if __name__ == "__main__":
    main()
