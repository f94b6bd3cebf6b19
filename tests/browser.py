"""A real browser at the table: windows that report every error in them, and a player."""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from table_player import Server, Window

NAMES = ("chromium", "chromium-browser", "google-chrome")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
MISSING = "the table in a browser cannot be tested without "
if PROGRAM is None:
    pytest.skip(f"{MISSING}one of {', '.join(NAMES)}", allow_module_level=True)

try:
    from playwright.sync_api import Browser, BrowserContext, Page, WebSocketRoute, expect, sync_playwright
except ImportError:
    pytest.skip(MISSING + "Playwright (pip install playwright)", allow_module_level=True)

SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing else can be reached
)
PATIENCE = 20_000  # milliseconds, for what should come at once
TO_LOAD = 60_000  # and for a page, while other tests keep the machine busy
expect.set_options(timeout=PATIENCE)
# Nothing is shown at a human pace, and all cards are open after a hand, unless a test stores other settings.
QUICK = """try {
  localStorage["felt.settings"] ??= JSON.stringify({ speed: "instant", folded: true });
} catch { /* an empty page has no storage */ }"""
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DESKTOP = {"viewport": {"width": 1280, "height": 800}}


@contextmanager
def browser() -> Iterator[Browser]:
    """One without a window."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=PROGRAM, args=list(SWITCHES))
        yield found
        found.close()


class Visits:
    """Windows of browsers that know nothing of each other; in the end nothing may have gone wrong in any."""

    def __init__(self, chrome: Browser, url: str) -> None:
        self.chrome, self.url = chrome, url
        self.faults: list[str] = []
        self._forgiven: list[str] = []
        self._contexts: list[BrowserContext] = []

    def __call__(self, path: str = "/", **options: Any) -> Page:
        """A page in a browser of its own."""
        page = self.blank(**options)
        page.goto(self.url + path)
        return page

    def blank(self, **options: Any) -> Page:
        """The same before it goes anywhere."""
        context = self.chrome.new_context(locale="en-GB", **{**DESKTOP, **options})
        context.add_init_script(QUICK)
        context.set_default_timeout(PATIENCE)
        context.set_default_navigation_timeout(TO_LOAD)
        self._contexts.append(context)
        self._follow(context)
        return context.new_page()

    def forgive(self, *texts: str) -> None:
        """Faults that a test brings about itself."""
        self._forgiven += texts

    def __enter__(self) -> Visits:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        for context in self._contexts:
            context.close()
        left = [fault for fault in self.faults if not any(text in fault for text in self._forgiven)]
        if kind is None:  # a test that failed says enough
            assert not left, left

    def _follow(self, context: BrowserContext) -> None:
        context.on("console", lambda message: self._said(message.type, message.text, message.location))
        context.on("weberror", lambda error: self.faults.append(f"page error: {error.error}"))
        context.on("request", lambda request: self._asked(request.url))
        context.on("requestfailed", lambda request: self._failed(request.url, request.failure))
        context.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        context.on("page", lambda page: page.on("websocket", lambda socket: self._asked(socket.url)))

    def _said(self, kind: str, text: str, where: Any) -> None:
        if kind in ("error", "warning", "assert"):
            self.faults.append(f"console {kind}: {text} ({where['url']})")

    def _asked(self, url: str) -> None:
        own = (self.url + "/", self.url.replace("http", "ws", 1) + "/", "data:", f"blob:{self.url}/")
        if not url.startswith(own):
            self.faults.append(f"a request to elsewhere: {url}")

    def _failed(self, url: str, failure: str | None) -> None:
        if failure != "net::ERR_ABORTED":  # the page was left, or the answer became a download
            self.faults.append(f"failed request: {url} ({failure})")


# A player

Press = Callable[[Page, str], None]


def click(page: Page, selector: str) -> None:
    """By mouse."""
    page.locator(selector).click()


def tap(page: Page, selector: str) -> None:
    """By finger."""
    page.locator(selector).tap()


def type_key(page: Page, selector: str) -> None:
    """By the last of the keys that the button names."""
    keys = page.locator(f"{selector}:enabled").get_attribute("aria-keyshortcuts") or ""
    page.keyboard.press(keys.split()[-1])


def space(page: Page, selector: str) -> None:
    """By Tab and the space bar."""
    tab_to(page, selector)
    page.keyboard.press("Space")


def tab_to(page: Page, selector: str, most: int = 80) -> None:
    """Press Tab until the focus is there."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
            return
    raise AssertionError(f"Tab does not come to {selector}")


class Player:
    """A person at a table who plays at random."""

    def __init__(self, page: Page, press: Press = click, start: object = 1) -> None:
        self.page, self.press, self.dice = page, press, random.Random(str(start))
        page.locator("#main[data-connected=true]").wait_for()
        page.locator("#next-hand:enabled, [data-action]:enabled").first.wait_for()

    @property
    def session(self) -> str:
        return self.page.url.rsplit("/", 1)[1]

    @property
    def number(self) -> int:
        """Of the hand on the table."""
        return int(self.page.locator("#table").get_attribute("data-hand") or 0)

    @property
    def over(self) -> bool:
        return self.page.locator("#next-hand").count() > 0

    def lines(self) -> list[str]:
        """The account of the hand."""
        return self.page.locator("#account li").all_text_contents()

    def offered(self) -> list[str]:
        """The keys of what can be done: of f, c and r."""
        buttons = self.page.locator("[data-action]")
        return buttons.evaluate_all("all => all.map((button) => button.getAttribute('aria-keyshortcuts'))")

    def deal(self) -> None:
        """The next hand."""
        self.page.bring_to_front()  # browsers are slow in windows behind others
        number = self.number + 1
        self.press(self.page, "#next-hand")
        self.page.locator(f'#table[data-hand="{number}"]').wait_for()

    def act(self, key: str) -> None:
        """Take an action, and wait for what follows."""
        self.page.bring_to_front()
        before = self.page.locator("#account li").count()
        self.press(self.page, f'[data-action][aria-keyshortcuts="{key}"]')
        self.page.locator(f"#account li:nth-child({before + 1})").wait_for(state="attached")

    def act_somehow(self) -> None:
        """A random action; folding is rare, so that hands get long."""
        keys = self.offered()
        if keys[0] == "f" and self.dice.random() < 0.8:
            keys = keys[1:]
        self.act(self.dice.choice(keys))

    def play_on(self) -> None:
        """To the end of the hand."""
        while not self.over:
            self.act_somehow()

    def call_on(self) -> None:
        """The same without a bet of one's own."""
        while not self.over:
            self.act("c")

    def play(self, hands: int) -> None:
        for _ in range(hands):
            self.deal()
            self.play_on()


def at_table(visit: Visits, server: Server, game: str, *bots: str, **options: Any) -> Player:
    """A person at a new table; `settings` are stored before."""
    settings, press = options.pop("settings", None), options.pop("press", click)
    page = visit.blank(**options)
    if settings is not None:
        stored = f"localStorage['felt.settings'] = {json.dumps(json.dumps(settings))}"
        page.add_init_script(f"if (!sessionStorage.prepared) {{ sessionStorage.prepared = 1; {stored}; }}")
    page.goto(f"{visit.url}/play/{server.begin(game, *bots)}")
    return Player(page, press, game)


def finished(server: Server, game: str, *bots: str, start: int = 1, wanted: str = "") -> dict[str, Any]:
    """The end of a hand that was played elsewhere, with something in its log."""
    with Window(server, server.begin(game, *bots)) as window:
        dice = random.Random(start)
        while True:
            window.deal()
            state = window.play_on(dice)
            if wanted in " ".join(state["hand"]["account"]):
                return {**state["hand"], "session": window.session}


def looks(page: Page) -> dict[str, Any]:
    """The table as the page shows it."""
    found: dict[str, Any] = page.evaluate(
        """() => {
          const all = (from, selector) => [...from.querySelectorAll(selector)];
          const texts = (selector) => all(document, selector).map((node) => node.textContent);
          const cards = (from) => all(from, "[data-card]").map((card) => card.dataset.card);
          const table = document.getElementById("table");
          const seats = [...table.querySelectorAll("[data-seat]")];
          return {
            hand: table.dataset.hand,
            seats: Object.fromEntries(seats.map((seat) => [seat.dataset.seat, cards(seat)])),
            bets: seats.map((seat) => seat.querySelector(".bet").dataset.bet),
            board: [...table.querySelectorAll("[data-board]")].flatMap(cards),
            pot: table.querySelector("[data-pot]")?.dataset.pot,
            account: texts("#account li"),
            actions: texts("#actions button"),
          };
        }"""
    )
    return found


# The score, computed from the database

SQL = "SELECT number, won, luck_free FROM table_hands WHERE session = ? AND status = 1 ORDER BY number"


def figures(text: str | None) -> list[float]:
    """The numbers in "+1,021 ± 33"; none in a dash."""
    return [
        float(part.replace(",", ""))
        for part in re.findall(r"-?\d[\d,]*(?:\.\d+)?", (text or "").replace("−", "-"))
    ]


def stored_hands(database: Path, session: str) -> list[tuple[int, float, float]]:
    """Number, winnings and luck-free winnings of each finished hand."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as base:
        found = base.execute(SQL, (session,)).fetchall()
    base.close()
    return found


def check_score(page: Page, database: Path, session: str, *, big_blind: float | None) -> None:
    """The page's figures are those of the stored hands."""
    hands = stored_hands(database, session)
    expect(page.locator("#score-hands")).to_have_text(str(len(hands)))
    columns = np.array(hands, float)
    for name, values in (("score", columns[:, 1]), ("score-luck-free", columns[:, 2])):
        scale = 100 / big_blind if big_blind else 1.0  # in bb/100
        wanted = [values.mean() * scale]
        if len(values) > 1:
            spread = scipy.stats.t.ppf(0.975, len(values) - 1) * scipy.stats.sem(values) * scale
            if spread >= (0.05 if big_blind else 0.0005):  # equal winnings say nothing of luck
                wanted.append(spread)
        won = page.locator("#score-won" if name == "score" else f"#{name}").text_content()
        assert figures(won) == pytest.approx([values.sum()], abs=0.00501)
        rate = figures(page.locator(f"#{name}-rate").text_content())
        assert rate == pytest.approx(wanted, abs=0.0501 if big_blind else 0.000501)


# Between page and server


def between(
    page: Page,
    down: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda message: message,
    up: Callable[[dict[str, Any]], dict[str, Any]] = lambda message: message,
) -> list[WebSocketRoute]:
    """Change the messages of the server (None: lost) and of the page; returns the sockets as they open."""
    routes: list[WebSocketRoute] = []

    def connect(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def says(text: str | bytes) -> None:
            reported = down(json.loads(text))
            if reported is not None:
                route.send(json.dumps(reported))

        server.on_message(says)
        route.on_message(lambda text: server.send(json.dumps(up(json.loads(text)))))
        routes.append(route)

    page.route_web_socket(re.compile("/ws/"), connect)
    return routes


# What browsers report of a page

NAMED = {"button", "link", "radio", "checkbox", "slider", "combobox", "textbox", "image", "grid", "region"}


def spoken(page: Page) -> list[tuple[str, str, dict[str, Any]]]:
    """What a screen reader reads: role, name and properties of each node."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        (
            node["role"]["value"],
            node.get("name", {}).get("value", ""),
            {each["name"]: each["value"].get("value") for each in node.get("properties", [])},
        )
        for node in nodes
        if not node["ignored"]
    ]


CONTRAST = """(node) => {
  const paper = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (text) => {
    paper.clearRect(0, 0, 1, 1);
    paper.fillStyle = text;
    paper.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = paper.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, low) => [0, 1, 2].map((i) => top[i] * top[3] + low[i] * (1 - top[3])).concat(1);
  const light = ([r, g, b]) => {
    const line = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * line(r) + 0.7152 * line(g) + 0.0722 * line(b);
  };
  // Every layer below the text, from the page upwards; a gradient counts as each of its colours.
  let grounds = [rgba("#fff")];
  const line = [];
  for (let each = node; each; each = each.parentElement) line.unshift(each);
  for (const each of line) {
    const style = getComputedStyle(each);
    const colours = style.backgroundImage.match(/(rgba?|color)\\([^)]*\\)/g) ?? [];
    const layers = colours.length ? colours.map(rgba) : [rgba(style.backgroundColor)];
    grounds = grounds.flatMap((ground) => layers.map((layer) => over(layer, ground)));
  }
  const ink = rgba(getComputedStyle(node).color);
  const strength = line.reduce((all, each) => all * Number(getComputedStyle(each).opacity), 1);
  const ratios = grounds.map((ground) => {
    const [a, b] = [light(over([...ink.slice(0, 3), ink[3] * strength], ground)), light(ground)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
  return Math.min(...ratios);
}"""


def contrast(page: Page, selector: str) -> float:
    """The least ratio of WCAG between the text of an element and what is behind it."""
    return float(page.locator(selector).first.evaluate(CONTRAST))


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    width = page.viewport_size["width"]
    return max(0, page.evaluate("document.scrollingElement.scrollWidth") - width)
