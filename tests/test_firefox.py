"""The table in Firefox: by mouse, keys and touch; names, reviews, reports; audits of the main pages."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from firefox import Firefox, Tab
from table_player import Server, Window, thread_server
from test_browser_audit import AXE, GRAVE, RUN

pytestmark = pytest.mark.slow

TOKEN = "a long token"
PHONE = (390, 844)
NEXT = """document.querySelector("#actions.settling") ? ""
  : document.querySelector("#next-hand:enabled") ? "over"
  : document.querySelector("[data-action]:enabled") && "act" """


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with thread_server(tmp_path_factory.mktemp("firefox") / "table.db", token=TOKEN) as found:
        yield found


@pytest.fixture(scope="module")
def program():
    with Firefox() as found:
        yield found


@pytest.fixture
def firefox(program):
    """In the end nothing may have gone wrong in any page."""
    program.faults.clear()
    yield program
    assert not program.faults


def test_errors_in_a_page_are_noticed(program, server):
    tab = program.person()
    tab.goto(server.url)
    for script in ("console.error('one')", "setTimeout(() => { throw new Error('two'); }); 0"):
        tab.evaluate(script)
    tab.wait("new Promise((resolve) => setTimeout(() => resolve(true), 50))")
    assert [fault.split()[-1] for fault in program.faults] == ["one", "two"]


def play(tab: Tab, hands: int, how: str) -> None:
    """Check or call to the end of each hand, by mouse, keys or touch."""
    for _ in range(hands):
        number = int(tab.evaluate("document.getElementById('table').dataset.hand || 0")) + 1
        assert tab.wait(NEXT) == "over"
        tab.type("Enter") if how == "keys" else tab.press("#next-hand", how)
        tab.wait(f"document.getElementById('table').dataset.hand === '{number}'")
        while tab.wait(NEXT) == "act":
            before = int(tab.evaluate("document.querySelectorAll('#account li').length"))
            call = '[data-action][aria-keyshortcuts="c"]'
            tab.type("c") if how == "keys" else tab.press(call, how)
            tab.wait(f"document.querySelectorAll('#account li').length > {before}")


@pytest.mark.parametrize("how", ["mouse", "keys", "touch"])
@pytest.mark.parametrize("game", ["kuhn", "leduc", "holdem"])
def test_a_session(firefox, server, game, how):
    tab = firefox.person(*(PHONE if how == "touch" else ()))
    key = server.begin(game, "always-call")
    tab.goto(f"{server.url}/play/{key}")
    tab.see("#main[data-connected=true]")
    play(tab, 2, how)
    tab.see("#fairness[data-fair=fair]")
    tab.see("#score-hands", "2")
    hands = server.get(f"/api/sessions/{key}/hands")[1]["hands"]
    assert [hand["number"] for hand in hands] == [2, 1]
    if how == "keys":
        tab.type("l")
    else:
        tab.press('#hands li[data-hand="2"] a', how)
    tab.see("#main[data-ready] #title", "Hand 2")
    tab.wait("document.getElementById('losses').getAttribute('aria-busy') === 'false'")
    for _ in range(3):
        tab.type("ArrowRight") if how == "keys" else tab.press("#step-on", how)
    assert tab.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_from_the_lobby_to_the_report(firefox, server):
    tab = firefox.person()
    tab.goto(server.url)
    tab.press('[data-game="kuhn"] label')
    tab.press("#sit-down:enabled")
    tab.see("#main[data-connected=true]")
    play(tab, 1, "mouse")
    tab.press("#show-report")
    tab.see("#main[data-ready]")
    tab.goto(f"{server.url}/policy?game=holdem&bot=default")
    tab.see("#matrix")


def test_two_people_with_names(firefox, shared):
    ann, bo = firefox.person(), firefox.person()
    for tab, name in ((ann, "Ann"), (bo, "Бо")):
        tab.goto(f"{shared.url}/?token={quote(TOKEN)}")
        tab.press("#player-name")
        tab.type(*name, "Enter")
        tab.see("#player-known", name)
    ann.press('[data-game="kuhn"] label')
    ann.press("#sit-down:enabled")
    ann.see("#main[data-connected=true]")
    play(ann, 1, "mouse")
    link = ann.evaluate("document.querySelector('#hands li[data-hand=\"1\"] a').getAttribute('href')")
    bo.goto(shared.url + link)
    bo.see("#title", "Hand 1 of Ann")
    bo.wait("document.getElementById('losses').getAttribute('aria-busy') === 'false'")
    bo.goto(ann.evaluate("location.href"))
    bo.see("#error", "belongs to another player")


def finished(server: Server) -> tuple[str, str]:
    """A session and the link to its hand."""
    with Window(server, server.begin("leduc", "always-call")) as window:
        window.deal()
        while not window.hand["over"]:
            window.act(window.hand["actions"][-1]["word"])
        return window.session, window.hand["link"]


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed; `make test-slow` installs it")
@pytest.mark.parametrize("size", [(), PHONE])
def test_no_page_has_a_serious_violation(firefox, server, size):
    tab, (session, link) = firefox.person(*size), finished(server)
    for path, ready in {
        "/": "#sit-down:enabled",
        f"/play/{session}": "#main[data-connected=true] #next-hand",
        f"/hand/{link}": "#main[data-ready]",
        f"/report/{session}": "#main[data-ready]",
    }.items():
        tab.goto(server.url + path)
        tab.see(ready)
        tab.evaluate(AXE.read_text(encoding="utf-8") + "; 0")
        found = json.loads(tab.evaluate(f"({RUN})().then(JSON.stringify)"))
        assert not [each for each in found if each[0] in GRAVE], path
