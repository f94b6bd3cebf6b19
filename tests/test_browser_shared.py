"""Two people in two browsers at one server: names, sessions, a hand that one shows to the other."""

from __future__ import annotations

import pytest
from browser import Page, Player, Visits, expect, overflow
from table_player import thread_server
from test_browser_audit import AXE, GRAVE, RUN

pytestmark = pytest.mark.slow

TOKEN = "a long token"
FAR = "http://192.0.2.7:8137"


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    with thread_server(folder / "table.db", token=TOKEN, address=FAR) as server:
        yield server


@pytest.fixture
def visit(chrome, shared):
    with Visits(chrome, shared.url) as visits:
        visits.forgive("status of 401")
        yield visits


def enter(visit: Visits, path: str = "/", **options: object) -> Page:
    """Open a page with the token, as someone who was sent the link without it."""
    page = visit(path, **options)
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    return page


def arrive(visit: Visits, name: str, **options: object) -> Page:
    """In the lobby, with a name."""
    page = enter(visit, **options)
    page.get_by_label("Your name").fill(name)
    page.keyboard.press("Enter")
    expect(page.locator("#player-known")).to_have_text(name)
    return page


def sit_down(page: Page, game: str) -> Player:
    page.locator(f'[data-game="{game}"] label').click()
    page.locator("#sit-down").click()
    page.wait_for_url("**/play/*")
    return Player(page)


def test_two_people_play_apart_and_show_each_other_a_hand(visit):
    ann, bo = arrive(visit, "Ann O'Neil"), arrive(visit, "Бо")
    one, other = sit_down(ann, "kuhn"), sit_down(bo, "leduc")
    his_session = other.session
    assert one.session != his_session
    one.play(2)
    other.play(1)
    link = ann.locator('#hands li[data-hand="1"] a').get_attribute("href")

    bo.goto(visit.url + link)
    expect(bo.locator("#title")).to_contain_text("Hand 1 of Ann O'Neil: Kuhn poker")
    expect(bo.locator("#table [data-you]")).to_contain_text("Ann O'Neil")
    expect(bo.locator("#losses")).to_contain_text("Exact")
    assert "You " not in bo.locator("#steps").inner_text()
    bo.locator("#step-last").click()
    expect(bo.locator("#decision")).to_contain_text("Ann O'Neil")

    visit.forgive("status of 404")
    bo.goto(f"{visit.url}/play/{one.session}")  # the address of Ann's table, not of a hand
    expect(bo.locator("#error")).to_contain_text("belongs to another player")
    expect(bo.get_by_role("link", name="Go to the lobby")).to_be_visible()
    bo.goto(f"{visit.url}/report/{one.session}")
    expect(bo.locator("#error")).to_contain_text("belongs to another player")
    one.play(1)  # nothing happened to her table

    bo.goto(visit.url)
    expect(bo.locator("#sessions [data-session]")).to_have_count(1)
    expect(bo.locator(f'[data-session="{his_session}"]')).to_be_visible()


def test_the_sessions_of_a_name_come_back_without_the_browsers_list(visit):
    page = arrive(visit, "Forgetful")
    player = sit_down(page, "kuhn")
    player.play(1)
    session = player.session
    page.evaluate("localStorage.clear()")
    page.goto(visit.url)
    page.locator(f'[data-session="{session}"] a').click()
    Player(page).play(1)


def test_a_name_is_refused_in_one_sentence_and_can_be_changed(visit):
    visit.forgive("status of 400")
    page, other = arrive(visit, "First"), enter(visit)
    for name in ("FIRST", "The Professor", "<img src=x onerror=alert(1)>"):
        other.get_by_label("Your name").fill(name[:24])
        other.get_by_role("button", name="Use this name").click()
        expect(other.locator("#error")).to_be_visible()
    other.get_by_label("Your name").fill("Second")
    other.keyboard.press("Enter")
    expect(other.locator("#error")).to_be_hidden()
    page.get_by_role("button", name="Change").click()
    expect(page.get_by_label("Your name")).to_be_focused()
    page.keyboard.type(" of all")
    page.keyboard.press("Enter")
    expect(page.locator("#player-known")).to_contain_text("of all")
    page.reload()
    expect(page.locator("#player-known")).to_contain_text("of all")


def test_a_link_asks_for_the_token_and_then_shows_the_hand(visit):
    page = arrive(visit, "Sender", permissions=["clipboard-read", "clipboard-write"])
    sit_down(page, "kuhn").play(1)
    page.locator('#hands li[data-hand="1"] a').click()
    page.locator("#main[data-ready]").wait_for()
    page.locator("#copy").click()
    expect(page.locator("#copied")).to_have_text("Link copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{FAR}/hand/")  # not at 127.0.0.1, where nobody else finds it
    friend = enter(visit, link.removeprefix(FAR))
    expect(friend.locator("#title")).to_contain_text("Hand 1 of Sender")


def test_a_server_for_one_asks_for_no_name(chrome, tmp_path):
    with thread_server(tmp_path / "table.db") as server, Visits(chrome, server.url) as visit:
        page = visit()
        page.locator("#sit-down:enabled").wait_for()
        expect(page.locator("#player")).to_be_hidden()


@pytest.mark.parametrize("size", [{"width": 1280, "height": 800}, {"width": 390, "height": 844}])
def test_the_form_fits_the_window(visit, size):
    page = enter(visit, viewport=size, color_scheme="dark")
    page.get_by_label("Your name").wait_for()
    assert overflow(page) == 0
    if AXE.exists():  # tests/test_browser_audit.py demands it
        page.evaluate(AXE.read_text(encoding="utf-8"))
        assert not [each for each in page.evaluate(RUN) if each[0] in GRAVE]
