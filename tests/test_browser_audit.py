"""Audits of the main pages by axe-core in both themes and two sizes; `make test-slow` installs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from browser import PHONE, finished

pytestmark = pytest.mark.slow

AXE = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")
PAGES = ("lobby", "table", "review", "ranges", "report", "drill", "spectate")
RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  const places = (nodes) => nodes.slice(0, 3).map((node) => node.html.slice(0, 200));
  return violations.map(({ impact, id, nodes }) => [impact, id, places(nodes)]);
}"""


@pytest.fixture(scope="module")
def hand(server):
    return finished(server, "holdem", "always-call", wanted="River")


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed; `make test-slow` installs it")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [{}, PHONE])
@pytest.mark.parametrize("name", PAGES)
def test_no_page_has_a_serious_violation(visit, server, hand, name, size, scheme):
    paths = {
        "lobby": "/",
        "table": f"/play/{hand['session']}",
        "review": f"/hand/{hand['link']}",
        "ranges": "/policy?game=holdem&bot=default",
        "report": f"/report/{hand['session']}",
        "drill": "/drill?game=holdem&bot=random",
        "spectate": "/spectate?game=holdem&bot=random&bot=always-call",
    }
    ready = {
        "lobby": "#sit-down:enabled",
        "table": "#main[data-connected=true] #next-hand",
        "review": "#main[data-ready] #losses[aria-busy=false]",
        "ranges": "#matrix",
        "report": "#main[data-ready]",
        "drill": "#start:enabled",
        "spectate": "#begin:enabled",
    }
    page = visit(paths[name], color_scheme=scheme, **size)
    page.locator(ready[name]).first.wait_for(timeout=60_000)
    if name == "drill":
        page.locator("#start").click()
        page.locator("#actions:not(.settling) [data-action]").first.click(timeout=60_000)
        page.locator("#next-drill").wait_for(timeout=60_000)
    if name == "spectate":
        page.locator("#begin").click()
        page.locator("#table[data-step]").wait_for(timeout=60_000)
        page.locator("#step-on").click()
    if name in ("review", "spectate"):
        page.locator("#ranges-panel summary").click()
        page.locator("#ranges [data-range]").first.wait_for(timeout=60_000)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(RUN)
    assert not [each for each in found if each[0] in GRAVE]
