"""The report on a session in a real browser."""

from __future__ import annotations

import pytest
from browser import PHONE, Player, at_table, expect, figures, finished, overflow

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("options", [{}, {**PHONE, "color_scheme": "dark"}])
def test_the_report_of_a_session(visit, server, options):
    """From the table to the report, to the worst decision, with all figures; on a phone too."""
    player = at_table(visit, server, "leduc", "equilibrium", **options)
    player.play(8)
    page = player.page
    page.locator("#show-report").click()
    page.locator("#main[data-ready]").wait_for()
    report = server.get(
        f"/api/sessions/{player.session if 'play' in page.url else page.url.rsplit('/', 1)[1]}/report"
    )[1]
    shown = figures(page.locator("#results tbody tr").first.locator("td").text_content())
    assert shown[0] == pytest.approx(report["lost"]["mean"], abs=0.0501)
    expect(page.locator("#leaks tbody tr")).to_have_count(len(report["leaks"]) + len(report["streets"]))
    assert page.locator("#chart path").count() == 3
    assert overflow(page) == 0
    worst = page.locator("#worst a").first
    number = (worst.text_content() or "").split()[-1]
    worst.click()
    expect(page.locator("#title")).to_contain_text(f"Hand {number}")


def test_the_style_of_players_of_holdem(visit, server):
    player = at_table(visit, server, "holdem", "always-call")
    player.deal()
    player.call_on()
    page = player.page
    page.locator("#show-report").click()
    rows = page.locator("#style tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("You")
    expect(rows.nth(1)).to_contain_text("The Calling Station")


def test_a_session_without_hands_and_one_that_is_not_there(visit, server):
    page = visit(f"/report/{server.begin('kuhn', 'random')}")
    expect(page.locator("#report")).to_have_text("No finished hands yet.")
    visit.forgive("status of 404")
    page = visit("/report/none")
    expect(page.locator("#error")).to_have_text("This session does not exist.")


def test_ranges_at_every_step_of_a_review(visit, server):
    """A matrix for each player, which follows the step; by keyboard too."""
    hand = finished(server, "holdem", "always-call", wanted="River")
    page = visit(f"/hand/{hand['link']}")
    page.locator("#ranges-panel summary").click()
    page.locator("#ranges [data-range]").first.wait_for()
    assert page.locator("#ranges [data-range]").count() == 2
    steps = page.locator("#steps button").count()
    page.locator("#step-last").click()
    page.locator(f'#ranges[data-step="{steps - 2}"][aria-busy=false]').wait_for()
    expect(page.locator("#range-0 [data-hand]")).to_have_count(169)
    page.locator('#range-0 [data-hand="AA"]').focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.hand") == "AKs"
    assert overflow(page) == 0


def test_the_rating_in_the_lobby(visit, server):
    """After the first hand of heads-up hold'em, with the person on the ladder."""
    player = at_table(visit, server, "holdem", "always-call")
    page = player.page
    page.goto(f"{visit.url}/")
    page.locator("#earlier li").first.wait_for()
    expect(page.locator("#rating")).to_be_hidden()
    page.go_back()
    again = Player(page)
    again.deal()
    again.call_on()
    page.goto(f"{visit.url}/")
    expect(page.locator("#rating [data-rung=you]")).to_be_visible()
    expect(page.locator("#rating [data-rung=always-call]")).to_contain_text("1 hand")
    assert overflow(page) == 0
