"""Drills and spectating in a real browser, by mouse, keyboard and touch."""

from __future__ import annotations

import re

import pytest
from browser import PHONE, Page, at_table, click, expect, overflow, tab_to, tap, type_key

pytestmark = pytest.mark.slow

LONG = 60_000  # milliseconds, for bots that are solved on first use


def at_drill(visit, query="", **options):
    page = visit(f"/drill{query}", **options)
    page.locator("#main[data-ready]").wait_for(timeout=LONG)
    return page


def answer(page: Page, press, which: int = 0) -> str:
    """Take one of the actions; returns what the page says."""
    page.locator("#actions:not(.settling) [data-action]:enabled").first.wait_for()
    word = page.locator("[data-action]").nth(which).get_attribute("data-action")
    press(page, f'[data-action="{word}"]')
    page.locator("#next-drill").wait_for(timeout=LONG)
    return page.locator("#verdict-title").text_content() or ""


def shown(page: Page, number: int) -> None:
    page.locator(f'#table[data-drill="{number}"]').wait_for(timeout=LONG)


@pytest.mark.parametrize(("press", "options"), [(click, {}), (type_key, {}), (tap, PHONE)])
def test_random_decisions(visit, press, options):
    """Each is answered, judged, and counted in the score; the buttons are always in view."""
    page = at_drill(visit, "?game=kuhn&bot=random", **options)
    (tap if options else click)(page, "#start")
    right = 0
    for number in range(1, 6):
        shown(page, number)
        expect(page.locator("#verdict")).to_be_hidden()
        assert page.locator("#table [data-card='??']").count() == 1
        for button in page.locator("[data-action]").all():
            expect(button).to_be_in_viewport(ratio=1)
        text = answer(page, press, number % 2)
        right += text.startswith("Right")
        expect(page.locator("#verdict")).to_have_attribute(
            "data-right", str(text.startswith("Right")).lower()
        )
        assert text.startswith(("Right", "Missed: the best action is"))
        expect(page.locator("#decision .loss-table tbody tr")).to_have_count(2)
        expect(page.locator(".score-line")).to_contain_text(f"{right} of {number} answer")
        assert overflow(page) == 0
        if number < 5:
            page.locator("#actions:not(.settling) #next-drill:enabled").wait_for()
            press(page, "#next-drill")
    missed = page.locator("[data-box='1'] strong").text_content()
    assert int(missed or 0) <= 5 - right
    page.reload()  # the score is stored
    expect(page.locator(".score-line")).to_contain_text(f"{right} of 5 answers")


def test_a_chosen_spot(visit):
    page = at_drill(visit, "?kind=spot&game=leduc&bot=random&street=second round&situation=facing a bet")
    assert page.locator("#street").input_value() == "second round"
    page.locator("#position").select_option("second to act")
    page.locator("#start").click()
    for number in range(1, 4):
        shown(page, number)
        expect(page.locator("#spot")).to_contain_text("Second round, facing a bet; you are second to act")
        expect(page.locator("[data-kind=fold]")).to_be_visible()
        answer(page, click)
        page.locator("#actions:not(.settling) #next-drill:enabled").click()
    page.locator("#choose summary").click()
    page.locator("#game").select_option("kuhn")
    expect(page.locator("#street option")).to_have_text(["any", "the only round"])


def test_a_spot_that_does_not_occur_is_told(visit):
    page = at_drill(visit, "?kind=spot&game=kuhn&bot=always-call&situation=facing a bet")
    visit.forgive("status of 400")
    page.locator("#start").click()
    expect(page.locator("#error")).to_contain_text("choose a wider one")
    page.locator("#kind").select_option("random")
    page.locator("#start").click()
    shown(page, 1)
    expect(page.locator("#error")).to_be_hidden()


def test_own_mistakes_and_their_review(visit, server):
    """Of the sessions of this browser: found, drilled, and linked to their hands."""
    player = at_table(visit, server, "leduc", "always-raise")
    player.play(6)
    page = player.page
    page.goto(f"{visit.url}/drill?kind=mistakes")
    page.locator("#main[data-ready]").wait_for(timeout=LONG)
    page.locator("#start").click()
    shown(page, 1)
    answer(page, click)
    link = page.locator("#review-hand").get_attribute("href")
    page.locator("#next-drill").wait_for()
    page.goto(visit.url + link)
    expect(page.locator("#title")).to_contain_text("Hand ")


def test_without_sessions_or_due_decisions_the_page_says_so(visit):
    page = at_drill(visit, "?kind=mistakes")
    page.locator("#start").click()
    expect(page.locator("#busy")).to_contain_text("No more mistakes were found")
    page.locator("#kind").select_option("repeat")
    page.locator("#start").click()
    expect(page.locator("#busy")).to_have_text("Nothing is due for repetition.")


def test_keys_alone(visit):
    """From the form to the next drill, with the list of keys."""
    page = at_drill(visit, "?game=kuhn&bot=random")
    tab_to(page, "#start")
    page.keyboard.press("Enter")
    shown(page, 1)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("f")  # does nothing while the dialog is open
    page.keyboard.press("Escape")
    expect(page.locator("#verdict")).to_be_hidden()
    page.keyboard.press("c")
    page.locator("#next-drill").wait_for()
    page.keyboard.press("c")  # an answer counts once
    page.keyboard.press("n")
    shown(page, 2)
    expect(page.locator(".score-line")).to_contain_text("of 1 answer ")


def test_a_deck_of_another_file_is_replaced(visit):
    page = visit.blank()
    page.add_init_script("localStorage['felt.drills'] ??= JSON.stringify('nothing')")
    visit.forgive("status of 404")
    page.goto(f"{visit.url}/drill?game=kuhn&bot=random")
    page.locator("#main[data-ready]").wait_for(timeout=LONG)
    page.locator("#start").click()
    shown(page, 1)
    answer(page, click)
    expect(page.locator(".score-line")).to_contain_text("of 1 answer ")


# Spectating


def begun(visit, query, speed="fast", **options):
    page = visit(f"/spectate?{query}", **options)
    page.locator("#main[data-ready]").wait_for(timeout=LONG)
    page.locator("#speed").select_option(speed)
    (tap if options else click)(page, "#begin")
    page.locator("#table[data-hand]").wait_for(timeout=LONG)
    return page


def test_two_bots_play_by_themselves(visit):
    """Hand after hand, until someone pauses."""
    page = begun(visit, "game=kuhn&bot=random&bot=always-call", "very fast")
    third_or_later = re.compile(r"[3-9]|\d\d+")  # on a busy machine a hand may end unseen
    expect(page.locator("#table")).to_have_attribute("data-hand", third_or_later)
    expect(page.locator("#title")).to_have_text("Kuhn poker: The Monkey and The Calling Station")
    page.locator("#run").click()
    expect(page.locator("#main")).to_have_attribute("data-running", "false")
    hand = page.locator("#table").get_attribute("data-hand")
    step = page.locator("#table").get_attribute("data-step")
    page.wait_for_timeout(500)
    assert page.locator("#table").get_attribute("data-hand") == hand
    assert page.locator("#table").get_attribute("data-step") == step
    expect(page.locator("#result")).to_contain_text(f"After {hand} hands:")
    assert page.locator("#table [data-card='??']").count() == 0
    bottom = page.locator(".seat-bottom .seat-name")
    expect(bottom).to_have_text("The Monkey")  # in every hand
    page.locator("#next-hand").click()
    page.locator(f'#table[data-hand="{int(hand) + 1}"]').wait_for()
    expect(bottom).to_have_text("The Monkey")


def test_step_by_step_by_keys_with_both_strategies(visit):
    page = begun(visit, "game=leduc&bot=random&bot=always-call")
    page.keyboard.press("Home")
    expect(page.locator("#main")).to_have_attribute("data-running", "false")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#table")).to_have_attribute("data-step", "1")
    thoughts = page.locator("#decision [data-thought]")
    expect(thoughts).to_have_count(2)
    expect(thoughts.nth(1)).to_contain_text("in its place")
    page.keyboard.press("End")
    expect(page.locator("#step-text")).to_contain_text("End:")
    following = int(page.locator("#table").get_attribute("data-hand")) + 1
    page.keyboard.press("n")
    page.locator(f'#table[data-hand="{following}"]').wait_for()
    page.keyboard.press("Space")
    expect(page.locator("#main")).to_have_attribute("data-running", "true")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()


def test_on_a_phone_with_ranges(visit):
    page = begun(visit, "game=holdem&bot=always-raise&bot=always-call", **PHONE)
    page.locator("#step-on").tap()
    page.locator("#ranges-panel summary").tap()
    expect(page.locator("#ranges [data-range]")).to_have_count(2, timeout=LONG)
    assert overflow(page) == 0
    page.locator("#stop").tap()
    page.locator("#run").tap()
    expect(page.locator("#main")).to_have_attribute("data-running", "false")  # at the next decision
    assert overflow(page) == 0


def test_three_bots_and_one_that_is_not_there(visit):
    page = begun(visit, "game=kuhn(players=3)&bot=random&bot=always-call&bot=nobody")
    expect(page.locator("#bots select")).to_have_count(3)
    expect(page.locator("#table [data-seat]")).to_have_count(3)


@pytest.mark.parametrize("path", ["/drill", "/spectate"])
def test_no_page_is_wider_than_its_window(visit, path):
    page = visit(path, **PHONE)
    page.locator("#main[data-ready]").wait_for(timeout=LONG)
    for width in (320, 390, 768, 1024):
        page.set_viewport_size({"width": width, "height": 800})
        assert (path, width, overflow(page)) == (path, width, 0)
