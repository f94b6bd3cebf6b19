"""The table in a real browser, by mouse, keys and touch, against what the server and its file say."""

from __future__ import annotations

import json
import math
import random
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pokerkit
import pytest
from browser import (
    NAMED,
    PHONE,
    Page,
    Player,
    Visits,
    at_table,
    between,
    check_score,
    contrast,
    expect,
    figures,
    finished,
    looks,
    overflow,
    space,
    spoken,
    stored_hands,
    tab_to,
    tap,
    type_key,
)
from speed import slow
from table_player import (
    HIDDEN,
    Server,
    Window,
    fair_cards,
    plain_commitment,
    plain_deck,
    plain_shuffle,
    process_server,
    thread_server,
)

from openfelt.hands.phh import read_phh
from openfelt.table.lobby.characters import title_of

SITTINGS = [
    ("kuhn", ["equilibrium"]),
    ("leduc", ["equilibrium"]),
    ("holdem", ["default"]),
    ("kuhn(players=3)", ["equilibrium", "always-raise"]),
    ("leduc(players=3)", ["random", "random"]),
    ("holdem(players=3)", ["chen", "random"]),
]
NOT_FOUND = "the server responded with a status of 404"
BIG_BLIND = 2


def sit_down(page: Page, game: str, bots: list[str]) -> None:
    """By mouse, from the lobby."""
    page.locator(f'[data-game="{game}"] label').click()
    if len(bots) == 1:
        page.locator(f'[data-bot="{bots[0]}"] label').click()
    else:
        for place, bot in enumerate(bots):
            page.locator(f"select[name=bot{place}]").select_option(bot)
    page.get_by_role("button", name="Sit down").click()
    page.wait_for_url("**/play/*")


# Playing


def check_finished_hand(player: Player, database: Path, game: str) -> None:
    """What the page says of a hand that is over, against the file and a shuffle of our own."""
    page, (number, won, _) = player.page, stored_hands(database, player.session)[-1]
    assert player.number == number
    lines = player.lines()
    assert lines[0].startswith(f"Hand {number}.")
    said = page.locator("#prompt").text_content() or ""
    assert figures(said) == ([abs(won)] if won else [])
    assert ("win" if won > 0 else "lose" if won < 0 else "break even") in said
    expect(page.locator("#fairness")).to_have_attribute("data-fair", "fair")
    expect(page.locator("#fairness summary")).to_contain_text("Fair deal: verified")
    commitment, seed, nonce = page.locator("#fairness dd").all_text_contents()
    table = looks(page)
    seats = [{"cards": table["seats"][str(seat)]} for seat in range(len(table["seats"]))]
    assert commitment == plain_commitment(seed)
    assert fair_cards(game, seats, table["board"], seed, nonce)
    row = page.locator(f'#hands li[data-hand="{number}"]')
    assert figures(row.locator(".hand-won").text_content()) == [won]
    assert page.locator("#hands li").first.get_attribute("data-hand") == str(number)
    check_score(page, database, player.session, big_blind=BIG_BLIND if "holdem" in game else None)


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize(("game", "bots"), [SITTINGS[0], *(slow(*each) for each in SITTINGS[1:])])
def test_a_session_by_mouse(visit, server, database, game, bots):
    page = visit()
    sit_down(page, game, bots)
    player = Player(page, start=game)
    assert server.get(f"/api/sessions/{player.session}")[1]["bots"] == bots
    for bot in bots:
        expect(page.locator("#title")).to_contain_text(title_of(bot))
    for _ in range(3):
        player.deal()
        while not player.over:
            seats = page.locator("[data-seat]:not([data-you]) [data-card]")
            cards = seats.evaluate_all("all => all.map((card) => card.dataset.card)")
            assert set(cards) == {HIDDEN}
            player.act_somehow()
        check_finished_hand(player, database, game)
    points = re.findall(r"[ML]([\d.]+) ", page.locator("#chart .chart-won").get_attribute("d") or "")
    assert len(set(points)) == 4  # from no hand to three


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "bots"),
    [
        ("leduc", ["random"]),
        slow("holdem", ["always-call"]),
        slow("kuhn(players=3)", ["random", "always-call"]),
    ],
)
def test_a_session_by_keys_alone(visit, server, database, game, bots):
    page = visit()
    expect(page.locator("#sit-down")).to_be_enabled()
    choose_by_keys(page, "game", game)
    for place, bot in enumerate(bots):
        if len(bots) == 1:
            choose_by_keys(page, "bot0", bot)
        else:
            tab_to(page, f"select[name=bot{place}]")
            page.keyboard.type(title_of(bot))
    tab_to(page, "#sit-down")
    assert focus_is_seen(page)
    page.keyboard.press("Enter")
    page.wait_for_url("**/play/*")
    player = Player(page, type_key, game)
    assert server.get(f"/api/sessions/{player.session}")[1]["bots"] == bots
    page.keyboard.press("Enter")
    expect(page.locator("#table")).to_have_attribute("data-hand", "1")
    player.play_on()
    check_finished_hand(player, database, game)
    page.keyboard.press("n")
    expect(page.locator("#table")).to_have_attribute("data-hand", "2")
    player.play_on()
    page.keyboard.press("Enter")
    expect(page.locator("#table")).to_have_attribute("data-hand", "3")
    player.call_on()
    check_finished_hand(player, database, game)
    if not game.startswith("holdem"):  # there the cost of decisions takes long
        page.keyboard.press("l")
        page.wait_for_url("**/hand/*")
        expect(page.locator("#title")).to_contain_text("Hand 3")
        tab_to(page, "#back")
        page.keyboard.press("Enter")
        Player(page, type_key).play(1)


def choose_by_keys(page: Page, group: str, name: str) -> None:
    """One of some radio buttons."""
    tab_to(page, f"input[name={group}]:checked")
    for _ in range(20):
        if page.evaluate("name => document.activeElement.value === name", name):
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"no {name}")


def focus_is_seen(page: Page) -> bool:
    """Whether the element with the focus, or the card around it, has an outline."""
    outlined = """() => {
      const node = document.activeElement;
      return [node, node.closest(".choice, .segment")].some((each) => {
        const style = each && getComputedStyle(each);
        return style && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
      });
    }"""
    return bool(page.evaluate(outlined))


@pytest.mark.slow
def test_keys_do_what_they_say_and_no_more(visit, server):
    player = at_table(visit, server, "holdem", "always-call")
    page = player.page
    page.keyboard.press("f")  # no hand is on
    page.keyboard.press("l")
    player.deal()
    page.keyboard.press("Control+r")  # a modifier is the browser's; this one loads the page anew
    player = Player(page, type_key)
    page.keyboard.press("n")  # the hand is not over
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+f")
    assert player.number == 1
    assert not player.over
    page.keyboard.press("r")
    expect(page.locator("#account")).to_contain_text("You raise to 4.")
    player.call_on()
    page.keyboard.down("Enter")  # held down: one hand is dealt, and nothing more
    expect(page.locator("#table")).to_have_attribute("data-hand", "2")
    for _ in range(5):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    assert [
        line for line in player.lines() if line.startswith("You raise") or line.startswith("You call")
    ] == []
    page.keyboard.press("f")
    expect(page.locator("#prompt")).to_contain_text("You lose")
    page.keyboard.down("n")  # held down while the hand is played
    page.locator('#table[data-hand="3"]').wait_for()
    player.call_on()
    page.keyboard.down("n")
    page.keyboard.up("n")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert player.number == 3


@pytest.mark.slow
def test_a_double_click_acts_once(visit, server):
    page, wishes, deaf = visit.blank(), list[dict[str, Any]](), list[bool]()

    def up(message: dict[str, Any]) -> dict[str, Any]:
        wishes.append(message)
        return message

    between(page, lambda reported: None if deaf else reported, up)
    page.goto(f"{server.url}/play/{server.begin('holdem', 'always-call')}")
    Player(page)
    deaf.append(True)  # the answer is on its way
    page.locator("#next-hand").dblclick()
    page.keyboard.press("n")
    deaf.clear()
    page.reload()
    player = Player(page)
    assert (player.number, player.over) == (1, False)
    deaf.append(True)
    page.locator("[data-action][aria-keyshortcuts=c]").dblclick(force=True)
    page.keyboard.press("c")
    expect(page.locator("[data-action]:enabled")).to_have_count(0)
    assert [wish["do"] for wish in wishes] == ["deal", "act"]


@pytest.mark.slow
def test_the_focus_is_not_lost_by_playing(visit, server):
    """A button that was pressed goes away; Tab goes on from there, and every stop can be seen."""
    player = at_table(visit, server, "leduc", "always-call", press=space)
    page = player.page
    for _ in range(2):
        player.deal()
        while not player.over:
            assert page.evaluate("document.getElementById('controls').contains(document.activeElement)")
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement.matches('[data-action]')")
            assert focus_is_seen(page)
            page.keyboard.press("Shift+Tab")
            player.act("c")
        assert page.evaluate("document.getElementById('controls').contains(document.activeElement)")


@pytest.mark.slow
def test_new_lines_are_added_to_the_account(visit, server):
    """A live region whose old lines are replaced would be read again from the start."""
    player = at_table(visit, server, "leduc", "always-call")
    page = player.page
    log = page.get_by_role("log")
    expect(log).to_have_attribute("aria-live", "polite")
    assert page.get_by_role("status").count() > 0
    assert page.locator("#error[role=alert][aria-live=assertive]").count() == 1
    player.deal()
    while not player.over:
        before = log.locator("li").evaluate_all("all => all.map((line) => (line.kept = true)).length")
        player.act("c")
        kept = log.locator("li").evaluate_all("all => all.map((line) => line.kept === true)")
        assert kept == [True] * before + [False] * (len(kept) - before)
        assert len(kept) > before
    assert any("board" in line for line in player.lines())


# Fair dealing


def other(card: str) -> str:
    return "K" if card != "K" else "Q"


def lie(message: dict[str, Any], what: str) -> dict[str, Any]:
    """A server that cheats in one way."""
    hand, following = message.get("hand"), message.get("next")
    if what == "commitment" and following:
        following["commitment"] = plain_commitment("11" * 32)
    if not hand:
        return message
    mine = hand["seats"][hand["seat"]]
    theirs = hand["seats"][1 - hand["seat"]]
    if what == "own card":
        mine["cards"] = [other(mine["cards"][0])]
    if what == "own card, at first" and not hand["over"]:
        mine["cards"] = [other(mine["cards"][0])]
    if what == "own card, once" and hand["step"] == 0:
        mine["cards"] = [other(mine["cards"][0])]
    if not hand["over"]:
        return message
    if what == "seed in capitals":
        hand["seed"] = hand["seed"].upper()
    if what == "no seed":
        hand["seed"] = None
    if what == "seat":
        hand["seat"] = 1 - hand["seat"]
    if what == "a hidden card":
        theirs["cards"] = [HIDDEN]
    if what == "a missing card":
        theirs["cards"] = []
    if what == "no board":
        hand["board"] = []
    if what == "seed":
        hand["seed"] = "22" * 32
    if what == "a bot's card":
        theirs["cards"] = [other(theirs["cards"][0])]
    if what == "board":
        hand["board"] = [other(hand["board"][0])]
    if what == "nonce, at the end":
        hand["nonce"] = "33" * 16
    if what == "all, afterwards":
        hand["seed"], hand["commitment"] = "44" * 32, plain_commitment("44" * 32)
        deck = plain_shuffle(plain_deck("leduc"), hand["seed"], hand["nonce"])
        hand["seats"][0]["cards"], hand["seats"][1]["cards"], hand["board"] = [deck[0]], [deck[1]], [deck[2]]
    return message


LIES = {
    "commitment": "does not match the commitment",
    "seed": "does not match the commitment",
    "own card": "do not match the shuffle",
    "seed in capitals": "hex digits in lower case",
    "no seed": "has not revealed",
    "seat": "the seat that follows from the number",
    "a hidden card": "does not show all its cards",
    "a missing card": "does not show all its cards",
    "no board": "The board has the wrong number of cards",
    "own card, at first": "Cards changed",
    "own card, once": "Cards changed",
    "a bot's card": "do not match the shuffle",
    "board": "The board does not match the shuffle",
    "nonce": "another nonce than this browser's",
    "nonce, at the end": "another nonce than this browser's",
    "all, afterwards": "not the one announced",
}


def play_against(visit: Visits, server: Server, what: str) -> Page:
    """A hand to its end with a liar between page and server."""
    page = visit.blank()

    def up(message: dict[str, Any]) -> dict[str, Any]:
        return {**message, "nonce": "55" * 16} if what == "nonce" and message["do"] == "deal" else message

    between(page, lambda message: lie(message, what), up)
    page.goto(f"{server.url}/play/{server.begin('leduc', 'always-call')}")
    player = Player(page)
    player.deal()
    player.call_on()
    return page


@pytest.mark.parametrize("what", [slow(what) if place else what for place, what in enumerate(LIES)])
def test_a_deal_that_was_tampered_with_is_reported_prominently(visit, server, what):
    page = play_against(visit, server, what)
    fairness = page.get_by_role("alert").filter(has_text="FAILED verification")
    expect(fairness).to_be_visible()
    expect(fairness).to_have_attribute("data-fair", "foul")
    expect(fairness).to_contain_text(LIES[what])
    expect(fairness.locator("li").first).to_be_visible()  # not folded away
    assert contrast(page, "#fairness summary") >= 4.5


@pytest.mark.slow
def test_a_server_that_draws_the_nonce_itself_is_found_out(visit, server):
    """It refuses the page's, and says that another window has dealt: it could have tried many."""
    page = visit.blank()

    def up(message: dict[str, Any]) -> dict[str, Any]:
        if message["do"] != "deal":
            return message
        sockets[-1].send(json.dumps({"type": "error", "error": "Not yet.", "request": message["request"]}))
        return {**message, "nonce": "55" * 16, "request": None}

    sockets = between(page, up=up)
    page.goto(f"{server.url}/play/{server.begin('leduc', 'always-call')}")
    player = Player(page)
    player.deal()
    player.call_on()
    expect(page.locator("#fairness")).to_have_attribute("data-fair", "foul")
    expect(page.locator("#fairness")).to_contain_text(LIES["nonce"])


@pytest.mark.slow
def test_a_nonce_is_drawn_once_a_hand(visit, server):
    """A server that could refuse nonces until it likes one would choose the cards."""
    nonces, commitments, refusing = list[str](), set[str](), [True]

    def up(message: dict[str, Any]) -> dict[str, Any]:
        if message["do"] == "deal":
            nonces.append(message["nonce"])
        return {**message, "hand": 99} if refusing and message["do"] == "deal" else message

    def down(message: dict[str, Any]) -> dict[str, Any]:
        if message.get("next"):
            commitments.add(message["next"]["commitment"])
        return message

    page = visit.blank()
    sockets = between(page, down, up)
    page.goto(f"{server.url}/play/{server.begin('leduc', 'always-call')}")
    Player(page)
    for again in range(3):
        page.locator("#next-hand").click()
        expect(page.get_by_role("alert")).to_have_text("The next hand is number 1.")
        page.locator("#next-hand:enabled").wait_for()
        if again == 0:
            page.reload()
        elif again == 1:
            sockets[-1].close(code=1012)
            expect(page.locator("#connection")).to_contain_text("Connection lost")
        player = Player(page)
    second = page.context.new_page()
    between(second, down, up)
    second.goto(page.url)
    Player(second).page.locator("#next-hand").click()
    expect(second.get_by_role("alert")).to_have_text("The next hand is number 1.")
    refusing.clear()
    player.deal()
    assert len(nonces) == 5
    assert len(set(nonces)) == len(commitments) == 1
    player.call_on()
    expect(page.locator("#fairness")).to_have_attribute("data-fair", "fair")
    player.deal()
    assert len(set(nonces)) == 2


@pytest.mark.slow
def test_cards_that_changed_over_a_reload_are_reported(visit, server):
    page, lying = visit.blank(), [True]
    between(page, lambda message: lie(message, "own card, once") if lying else message)
    page.goto(f"{server.url}/play/{server.begin('leduc', 'always-call')}")
    Player(page).deal()
    lying.clear()
    page.reload()
    Player(page).call_on()
    expect(page.locator("#fairness")).to_have_attribute("data-fair", "foul")
    expect(page.locator("#fairness")).to_contain_text("Cards changed")
    page.locator("#next-hand").click()
    page.locator("[data-action]:enabled").first.wait_for()
    Player(page).call_on()
    expect(page.locator("#fairness")).to_have_attribute("data-fair", "fair")


@pytest.mark.slow
def test_looking_back_is_verified_where_the_hand_was_dealt(visit, server):
    player = at_table(visit, server, "leduc", "always-call")
    player.play(2)
    page, link = player.page, player.page.locator('#hands li[data-hand="1"] a').get_attribute("href")
    page.goto(visit.url + link)
    expect(page.locator("#fairness")).to_have_attribute("data-fair", "fair")
    expect(page.locator("#fairness summary")).to_have_text("✓ Fair deal: verified")
    stranger = visit(link)
    expect(stranger.locator("#fairness")).to_have_attribute("data-fair", "unseen")
    expect(stranger.locator("#fairness summary")).to_contain_text(
        "only the browser that dealt the hand can tell"
    )
    expect(stranger.locator("#fairness")).not_to_contain_text("✓")
    review = server.get(f"/api{link.replace('hand', 'hands', 1)}")[1]
    other_nonce = json.dumps([[review["commitment"], 1, "55" * 16]])
    page.evaluate("deals => localStorage.setItem('felt.drawn', deals)", other_nonce)
    page.reload()
    expect(page.locator("#fairness")).to_have_attribute("data-fair", "foul")
    expect(page.locator("#fairness")).to_contain_text(LIES["nonce"])


@pytest.mark.slow
def test_an_honest_middleman_changes_nothing(visit, server):
    expect(play_against(visit, server, "").locator("#fairness")).to_have_attribute("data-fair", "fair")


# Connections


@pytest.mark.parametrize(
    ("game", "bots"), [("holdem", ["always-call"]), slow("leduc(players=3)", ["random"] * 2)]
)
@pytest.mark.slow
def test_a_reload_in_mid_hand_comes_back_to_it(visit, server, database, game, bots):
    player = at_table(visit, server, game, *bots)
    player.play(1)
    player.deal()
    while player.over:  # one that ended at once
        player.deal()
    before = looks(player.page)
    player.page.reload()
    player = Player(player.page)
    assert looks(player.page) == before
    player.play_on()
    check_finished_hand(player, database, game)


@pytest.mark.slow
def test_a_lost_connection_comes_back_to_the_same_hand(visit, server):
    page = visit.blank()
    sockets = between(page)
    page.goto(f"{server.url}/play/{server.begin('holdem', 'always-call')}")
    player = Player(page)
    player.deal()
    before = looks(page)
    sockets[-1].close(code=1012)
    expect(page.locator("#connection")).to_contain_text("Connection lost")
    expect(page.locator("[data-action]").first).to_be_disabled()
    page.keyboard.press("c")  # goes nowhere, and does no harm
    expect(page.locator("[data-action]").first).to_be_disabled()
    expect(page.locator("#connection")).to_be_hidden()
    assert looks(Player(page).page) == before
    player.call_on()
    expect(page.locator("#fairness")).to_have_attribute("data-fair", "fair")


@pytest.mark.slow
def test_offline_and_back(visit, server):
    visit.forgive("ERR_INTERNET_DISCONNECTED")
    player = at_table(visit, server, "holdem", "always-call")
    player.deal()
    before = looks(player.page)
    player.page.context.set_offline(True)
    with Window(server, player.session) as window:  # something happens meanwhile
        window.act("raise")
    player.page.context.set_offline(False)
    expect(player.page.locator("#account")).to_contain_text("You raise to 4.")
    after = looks(Player(player.page).page)
    assert after["hand"] == before["hand"]
    assert after["account"][: len(before["account"])] == before["account"]
    player.call_on()
    expect(player.page.locator("#fairness")).to_have_attribute("data-fair", "fair")


@pytest.mark.slow
def test_a_server_that_was_killed_comes_back_to_the_same_hand(chrome, tmp_path):
    path = tmp_path / "table.db"
    with process_server(path, lobby=False) as first, Visits(chrome, first.url.rstrip("/")) as visit:
        visit.forgive("WebSocket connection to", "ERR_CONNECTION_REFUSED")
        player = at_table(visit, first, "leduc", "random")
        player.play(2)
        player.deal()
        before = looks(player.page)
        first.kill()
        expect(player.page.locator("#connection")).to_contain_text("Connection lost")
        expect(player.page.locator("[data-action]").first).to_be_disabled()
        with process_server(path, "--port", str(first.port), lobby=False):
            expect(player.page.locator("#connection")).to_be_hidden()
            expect(player.page.get_by_text("The server was restarted; hand 3 continues")).to_be_visible()
            assert looks(Player(player.page).page) == before
            player.play_on()
            check_finished_hand(player, path, "leduc")
            player.play(1)
            expect(player.page.locator("#notice")).to_be_hidden()
            check_finished_hand(player, path, "leduc")
            player.page.goto("about:blank")


@pytest.mark.slow
def test_two_windows_of_a_session_both_follow(visit, server, database):
    one = at_table(visit, server, "leduc", "always-call")
    two = Player(_second(one), start=2)
    for turn in range(3):
        first, second = (one, two) if turn % 2 else (two, one)
        first.deal()
        while not first.over:
            second.page.locator(f"#account li:nth-child({len(first.lines())})").wait_for(state="attached")
            assert looks(first.page) == looks(second.page)
            first.act_somehow()
            first, second = second, first
            first.page.locator(f"#account li:nth-child({len(second.lines())})").wait_for(state="attached")
        for player in (one, two):
            check_finished_hand(player, database, "leduc")


def _second(player: Player) -> Page:
    """Another window of the same browser."""
    page = player.page.context.new_page()
    page.goto(player.page.url)
    return page


@pytest.mark.slow
def test_two_sessions_are_separate(visit, server, database):
    one = at_table(visit, server, "leduc", "always-call")
    page = one.page.context.new_page()
    page.goto(f"{server.url}/play/{server.begin('holdem', 'always-call')}")
    two = Player(page)
    one.deal()
    two.deal()
    two.play_on()
    two.play(1)
    assert (one.number, one.over, two.number) == (1, False, 2)
    one.play_on()
    check_finished_hand(one, database, "leduc")
    check_finished_hand(two, database, "holdem")
    lobby = page.context.new_page()
    lobby.goto(server.url)
    expect(lobby.locator("#sessions li")).to_have_count(2)
    lobby.get_by_role("link", name="Resume: Leduc hold'em against The Calling Station").click()
    assert Player(lobby).session == one.session


@pytest.mark.slow
def test_a_stale_click_gets_a_sentence_and_changes_nothing(visit, server):
    one = at_table(visit, server, "holdem", "always-call")
    page, deaf = visit.blank(), []
    between(page, lambda reported: None if deaf else reported)
    page.goto(one.page.url)
    two = Player(page)
    one.deal()
    page.locator('#table[data-hand="1"]').wait_for()
    deaf.append(True)  # what one does now is lost on its way to the other
    one.act("c")
    with Window(server, one.session) as window:
        before = window.hand
    deaf.clear()
    page.locator("[data-action][aria-keyshortcuts=r]").click()
    page.get_by_text("Flop:").wait_for()
    expect(page.get_by_role("alert")).to_have_text("The hand has moved on since that step.")
    with Window(server, one.session) as window:
        assert window.hand == before
    assert looks(page) == looks(one.page)
    two.act("c")
    expect(page.locator("#error")).to_be_hidden()
    two.call_on()
    expect(page.locator("#fairness")).to_have_attribute("data-fair", "unseen")
    one.page.locator("#next-hand").wait_for()
    expect(one.page.locator("#fairness")).to_have_attribute("data-fair", "fair")


def kept_sessions(page: Page) -> list[str]:
    found: list[str] = page.evaluate("JSON.parse(localStorage.getItem('felt.sessions'))")
    return found


@pytest.mark.slow
def test_sessions_are_kept_whatever_the_server_says_of_them(visit, server):
    """They may be in another file, or a bot may be missing this time only."""
    visit.forgive("status of 40")
    player = at_table(visit, server, "kuhn", "random")
    player.play(1)
    page, known = player.page, player.session
    ids = [known, "elsewhere", "closed"]
    page.evaluate("ids => localStorage.setItem('felt.sessions', JSON.stringify(ids))", ids)
    sentence = "There is no bot gone-fishing."
    page.route("**/api/sessions/closed", lambda route: route.fulfill(status=400, json={"error": sentence}))
    page.goto(visit.url)
    expect(page.locator("#sessions li")).to_have_count(2)
    expect(page.locator(f'[data-session="{known}"]')).to_contain_text("1 hand")
    expect(page.locator('[data-session="closed"]')).to_contain_text(sentence)
    assert kept_sessions(page) == ids
    page.goto(f"{visit.url}/play/elsewhere")
    expect(page.get_by_role("alert")).to_contain_text("This session does not exist.")
    assert kept_sessions(page) == ids


PAUSES = """
window.pauses = [];
const real = window.setTimeout;
window.setTimeout = (what, pause, ...rest) => {
  if (pause > 300) window.pauses.push(pause);
  document.documentElement.dataset.pauses = Math.min(7, window.pauses.length);
  return real(what, pause > 300 ? 5 : pause, ...rest);
};
"""


@pytest.mark.slow
def test_a_table_that_cannot_be_opened_is_tried_again_ever_more_slowly(visit, server):
    page, closed = visit.blank(), [True]
    said = {"type": "error", "error": "There is no bot gone-fishing.", "request": None}

    def connect(route: Any) -> None:
        if closed:
            route.send(json.dumps(said))
            route.close(code=1011)
        else:
            route.connect_to_server()

    page.add_init_script(PAUSES)
    page.route_web_socket(re.compile("/ws/"), connect)
    session = server.begin("kuhn", "random")
    page.goto(f"{server.url}/play/{session}")
    page.evaluate("id => localStorage.setItem('felt.sessions', JSON.stringify([id]))", session)
    page.locator("html[data-pauses='7']").wait_for()
    expect(page.get_by_role("alert")).to_have_text(said["error"])
    expect(page.locator("#connection")).to_contain_text("retrying")
    assert kept_sessions(page) == [session]
    pauses = page.evaluate("pauses.slice(0, 7)")
    assert all(pause >= min(10_000, 500 * 1.7**tries) * 0.8 for tries, pause in enumerate(pauses))
    closed.clear()
    player = Player(page)
    expect(page.locator("#error")).to_be_hidden()
    expect(page.locator("#connection")).to_be_hidden()
    player.play(1)


# The score


@pytest.mark.slow
def test_the_score_says_what_its_unit_is(visit, server):
    note = "bb/100: big blinds (2 chips) won per 100 hands; 1 bb/100 is 10 mbb/h"
    page = visit()
    page.locator('[data-game="kuhn"] label').click()
    expect(page.locator("#opponents")).not_to_contain_text("bb/100")
    for game in ("holdem", "holdem(players=3)"):
        page.locator(f'[data-game="{game}"] label').click()
        expect(page.locator("#opponents .unit-note")).to_have_text(note)
    page.goto(f"{visit.url}/play/{server.begin('holdem', 'always-call')}")
    Player(page)
    expect(page.locator("#rate-note")).to_have_text(note)
    expect(page.locator("#rate-name abbr")).to_have_attribute("title", note.partition(": ")[2])
    page.goto(f"{visit.url}/play/{server.begin('kuhn', 'random')}")
    Player(page)
    expect(page.locator("#rate-note")).to_be_hidden()


@pytest.mark.slow
def test_the_chart_goes_from_zero_from_hand_to_hand(visit, server):
    player = at_table(visit, server, "kuhn", "random")
    player.play(3)
    player.page.reload()
    Player(player.page)
    for line in ("won", "luck-free"):
        path = player.page.locator(f".chart-{line}").get_attribute("d") or ""
        places = [float(place.split()[0]) for place in re.split("[ML]", path)[1:]]
        assert len(places) == 4
        assert all(left < right for left, right in pairwise(places))


@pytest.mark.slow
def test_an_interval_that_is_not_known_is_not_nought(visit, server):
    """After one hand, and where all hands won the same."""
    page = visit.blank()

    def down(message: dict[str, Any]) -> dict[str, Any]:
        message["score"] |= {"hands": 2, "won": -2.0, "rate": -1.0, "interval": None}
        message["score"]["luck_free"] = {"won": -2.0, "rate": -1.0, "interval": 0.0001}
        return message

    between(page, down)
    page.goto(f"{server.url}/play/{server.begin('kuhn', 'random')}")
    Player(page)
    expect(page.locator("#score-rate")).to_have_text("−1")
    expect(page.locator("#score-luck-free-rate")).to_have_text("−1")


# Looking back


def near(text: str | None, share: float) -> bool:
    """Whether "33%" stands for a share."""
    value = figures(text)[0]
    if (text or "").startswith(("<", ">")):
        return 0 < share < 0.005 if text.startswith("<") else 0.995 < share < 1
    return abs(value - 100 * share) <= 0.5 + 1e-9


def check_step(page: Page, step: dict[str, Any], index: int, losses: dict[str, Any]) -> None:
    """What the page shows of a step of a review."""
    expect(page.locator("#table")).to_have_attribute("data-step", str(index))
    expect(page.locator("#step-text")).to_contain_text(step["text"])
    table = looks(page)
    assert table["board"] == step["table"]["board"]
    assert [table["seats"][str(i)] for i in range(len(table["seats"]))] == [
        seat["cards"] for seat in step["table"]["seats"]
    ]
    assert page.locator("[data-thought]").count() == len(step["thoughts"])
    for thought in step["thoughts"]:
        rows = page.locator(f'[data-thought="{thought["by"]}"] [data-word]')
        values = rows.locator(".bar-value").all_text_contents()
        assert rows.evaluate_all("all => all.map((row) => row.dataset.word)") == [
            each["word"] for each in step["actions"]
        ]
        assert all(map(near, values, thought["probabilities"]))
    decisions = [each for each in losses["decisions"] if each["step"] == index]
    assert page.locator(".loss-table").count() == len(decisions)
    for decision in decisions:
        for action in decision["actions"]:
            row = page.locator(f'.loss-table [data-word="{action["word"]}"] td')
            worth, loss = (figures(text) for text in row.all_text_contents())
            assert worth[0] == pytest.approx(action["value"], abs=0.00501)
            assert loss[0] == pytest.approx(action["loss"], abs=0.00501)
            assert len(loss) == (2 if action["interval"] >= 0.005 and action["loss"] >= 0.005 else 1)


@pytest.mark.slow
def test_a_replay_goes_forth_and_back(visit, server):
    hand = finished(server, "leduc", "equilibrium", wanted="board")
    review = server.get(f"/api/hands/{hand['link']}")[1]
    losses = server.get(f"/api/hands/{hand['link']}/losses")[1]
    assert losses["exact"]
    assert losses["decisions"]
    page = visit(f"/hand/{hand['link']}")
    expect(page.locator("#losses")).to_contain_text("Exact")
    last = len(review["steps"])
    page.locator("#step-first").click()
    expect(page.locator("#step-back")).to_be_disabled()
    for index, step in enumerate(review["steps"]):
        check_step(page, step, index, losses)
        page.keyboard.press("ArrowRight") if index % 2 else page.locator("#step-on").click()
    expect(page.locator("#table")).to_have_attribute("data-step", str(last))
    expect(page.locator("#step-text")).to_contain_text(review["result"])
    expect(page.locator("#step-on")).to_be_disabled()
    for index in range(last - 1, -1, -1):
        page.keyboard.press("ArrowLeft") if index % 2 else page.locator("#step-back").click()
        check_step(page, review["steps"][index], index, losses)
    page.keyboard.press("End")
    expect(page.locator("#table")).to_have_attribute("data-step", str(last))
    page.keyboard.press("Home")
    expect(page.locator("#table")).to_have_attribute("data-step", "0")
    page.locator("#steps button").nth(2).click()
    check_step(page, review["steps"][2], 2, losses)
    page.locator("#step-slider").fill("1")
    check_step(page, review["steps"][1], 1, losses)
    cost = sum(
        decision["actions"][review["steps"][decision["step"]]["chosen"]]["loss"]
        for decision in losses["decisions"]
    )
    reported = figures(page.locator(".loss-sum").text_content())
    assert reported == ([] if cost < 0.005 else [pytest.approx(cost, abs=0.00501)])


@pytest.mark.slow
def test_hiding_the_bots_cards(visit, server):
    hand = finished(server, "leduc(players=3)", "random", "random", wanted="board")
    review = server.get(f"/api/hands/{hand['link']}")[1]
    page = visit(f"/hand/{hand['link']}")
    expect(page.locator("#main")).to_have_attribute("data-ready", "")  # keys count from then on
    page.get_by_label("Hide the bots' cards").check()
    page.keyboard.press("Home")  # from the box too
    for index, step in enumerate(review["steps"]):
        expect(page.locator("#table")).to_have_attribute("data-step", str(index))
        for number, seat in enumerate(step["table"]["seats"]):
            shown = looks(page)["seats"][str(number)]
            assert shown == (seat["cards"] if number == hand["seat"] else [HIDDEN] * len(seat["cards"]))
        if step["mover"] not in (-1, hand["seat"]):
            assert page.locator("[data-thought]").count() == 0
        page.keyboard.press("ArrowRight")
    page.get_by_label("Hide the bots' cards").uncheck()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    seats = review["steps"][1]["table"]["seats"]
    assert looks(page)["seats"] == {str(i): seat["cards"] for i, seat in enumerate(seats)}


def estimates(review: dict[str, Any]) -> dict[str, Any]:
    """Losses as the server may estimate them."""
    own = [(index, step) for index, step in enumerate(review["steps"]) if step["mover"] == review["seat"]]
    values = {"value": -1.25, "loss": 0.75, "interval": 0.31}
    decisions = [
        {"step": index, "actions": [{**action, **values} for action in step["actions"]]}
        for index, step in own
    ]
    return {"explain": "Estimated by 100 rollouts.", "exact": False, "decisions": decisions}


def holdem_hand(visit: Visits, server: Server, *bots: str, **options: Any) -> tuple[Page, dict[str, Any]]:
    """A hand of hold'em looked at again; what the server takes minutes for on a new machine is made up."""
    game = "holdem(players=3)" if len(bots) == 2 else "holdem"
    hand = finished(server, game, *bots, wanted="River")
    review = server.get(f"/api/hands/{hand['link']}")[1]
    page = visit.blank(**options)
    page.route("**/losses", lambda route: route.fulfill(json=estimates(review)))
    page.goto(f"{visit.url}/hand/{hand['link']}")
    expect(page.locator("#losses")).to_contain_text("Estimated")
    return page, review


@pytest.mark.slow
@pytest.mark.parametrize("bots", [["always-call"], ["chen", "random"]])
def test_a_replay_of_holdem(visit, server, bots):
    page, review = holdem_hand(visit, server, *bots)
    page.keyboard.press("Home")
    for index, step in enumerate(review["steps"]):
        check_step(page, step, index, estimates(review))
        page.keyboard.press("ArrowRight")
    expect(page.locator(".loss-sum")).to_contain_text("about")
    names, seat = review["names"], review["seat"]
    around = [names[(seat + after) % len(names)] for after in range(1, len(names))]
    expect(page.locator("#title")).to_contain_text(f"against {' and '.join(around)}")
    expect(page.locator("#decision")).to_contain_text(re.compile(r"Luck-adjusted: [+−]?[\d.]+ chips\."))


@pytest.mark.slow
def test_costs_within_their_interval_are_not_called_costs(visit, server):
    page, review = holdem_hand(visit, server, "always-call")
    found = estimates(review)
    for decision in found["decisions"][1:]:
        for action in decision["actions"]:
            action |= {"loss": 0.3, "interval": 0.7}
    page.route("**/losses", lambda route: route.fulfill(json=found))
    page.reload()
    expect(page.locator("#losses")).to_contain_text("Estimated")
    first, *others = [each["step"] for each in found["decisions"]]
    assert others
    page.locator(f'#steps [data-step="{first}"]').click()
    expect(page.locator(".cost")).to_have_text("EV loss: 0.75 chips.")
    for step in others:
        page.locator(f'#steps [data-step="{step}"]').click()
        expect(page.locator(".cost")).to_have_text("Close decision (EV loss 0.3 ± 0.7).")
    assert page.locator("#steps .step-cost").all_text_contents() == ["EV loss 0.75"]
    count = "1 close decision" if len(others) == 1 else f"{len(others)} close decisions"
    expect(page.locator(".loss-sum")).to_have_text(
        f"Total EV loss of your decisions: about 0.75 chips. This does not include {count}."
    )


@pytest.mark.slow
def test_losses_that_cannot_be_had_are_reported(visit, server):
    visit.forgive("status of 500")
    hand = finished(server, "leduc", "random")
    page = visit.blank()
    page.route("**/losses", lambda route: route.fulfill(status=500, json={"error": "It went wrong."}))
    page.goto(f"{visit.url}/hand/{hand['link']}")
    expect(page.locator("#losses")).to_contain_text("It went wrong.")
    page.keyboard.press("End")
    expect(page.locator("#step-text")).to_contain_text("End")


@pytest.mark.slow
def test_a_link_to_a_hand_shows_it_to_others_and_nothing_of_the_session(visit, server):
    """In a browser that was never at the table."""
    player = at_table(visit, server, "leduc", "equilibrium")
    player.play(2)
    row = player.page.locator('#hands li[data-hand="1"] a')
    link, session = row.get_attribute("href"), player.session
    stranger, bodies = visit.blank(), list[str]()
    stranger.on("response", lambda answer: bodies.append(answer.url))
    stranger.goto(visit.url + link)
    expect(stranger.locator("#title")).to_contain_text("Hand 1")
    expect(stranger.locator("#losses")).to_contain_text("Exact")
    expect(stranger.locator("#back")).to_be_hidden()
    expect(stranger.locator("#fairness")).to_have_attribute("data-fair", "unseen")
    reported = [stranger.content(), *bodies, *(text for _, text in _fetched(stranger, bodies))]
    assert len(reported) > 5
    assert not any(session in text for text in reported)
    row.click()
    player.page.wait_for_url("**/hand/*")
    player.page.get_by_role("link", name="Back to the table").click()
    assert Player(player.page).number == 2


def _fetched(page: Page, urls: list[str]) -> list[tuple[str, str]]:
    """Once more, as text."""
    return [(url, page.request.get(url).text()) for url in urls if "/api/" in url]


@pytest.mark.slow
def test_copying_the_link_of_a_hand(visit, server):
    hand = finished(server, "kuhn", "random")
    page = visit(f"/hand/{hand['link']}", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#copied")).to_have_text("Link copied.")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


@pytest.mark.slow
def test_many_hands_come_in_pages(visit, server, database):
    with Window(server, server.begin("kuhn", "random")) as window:
        dice = random.Random(1)
        for _ in range(57):
            window.deal()
            window.play_on(dice)
    page = visit(f"/play/{window.session}")
    rows = page.locator("#hands li")
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(57)
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    won = [figures(text)[0] for text in page.locator("#hands .hand-won").all_text_contents()]
    assert won == [row[1] for row in stored_hands(database, window.session)][::-1]
    check_score(page, database, window.session, big_blind=None)


# Files


@pytest.mark.slow
def test_downloads(visit, server, tmp_path):
    player = at_table(visit, server, "holdem", "always-call")
    player.play(3)
    saved = {}
    for name, text in (("hands.phhs", "All hands as PHH"), ("hands.jsonl", "All hands as JSON lines")):
        with player.page.expect_download() as download:
            player.page.get_by_role("link", name=text).click()
        assert download.value.suggested_filename == name
        saved[name] = tmp_path / name
        download.value.save_as(saved[name])
    lines = [json.loads(line) for line in saved["hands.jsonl"].read_text().splitlines()]
    with saved["hands.phhs"].open("rb") as file:
        others = list(pokerkit.HandHistory.load_all(file))
    ours = list(read_phh(saved["hands.phhs"]))
    assert len(lines) == len(others) == len(ours) == 3
    api = server.get(f"/api/sessions/{player.session}/hands")[1]["hands"][::-1]
    for number, (line, other_hand, own, listed) in enumerate(zip(lines, others, ours, api, strict=True)):
        seat = number % 2
        assert line["number"] == number + 1
        assert line["won"][seat] == own.won[seat] == listed["won"]
        *_, end = other_hand
        gains = [a - b for a, b in zip(end.stacks, end.starting_stacks, strict=True)]
        assert sorted(map(float, gains)) == sorted(line["won"])
    page = visit.blank()
    page.route("**/losses", lambda route: route.fulfill(json={"explain": "None.", "decisions": []}))
    page.goto(f"{visit.url}/hand/{api[0]['link']}")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download .phh").click()
    download.value.save_as(tmp_path / "hand.phh")
    (one,) = read_phh(tmp_path / "hand.phh")
    assert one.won == ours[0].won


# Policies

GRID = """() => [...document.querySelectorAll("#grids table")].map((table) => ({
  title: table.caption.textContent,
  cards: [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent),
  rows: [...table.tBodies[0].rows].map((row) => ({
    history: row.cells[0].textContent,
    cells: [...row.cells].slice(1).map((cell) => cell.querySelector(".visually-hidden")?.textContent ?? null),
  })),
}))"""


def shares(text: str) -> list[str]:
    """In "fold 10%, call 90%" they are 10% and 90%."""
    return re.findall(r"[<>]?\d+%", text)


@pytest.mark.parametrize(
    ("game", "bot"), [("kuhn", "equilibrium"), ("leduc", "uct"), ("kuhn(players=3)", "uct")]
)
@pytest.mark.slow
def test_a_policy_as_a_grid(visit, server, game, bot):
    page = visit(f"/policy?{urlencode({'game': game, 'bot': bot})}")
    policy = server.get(f"/api/policy?{urlencode({'game': game, 'bot': bot})}")[1]
    expect(page.locator("#title")).to_contain_text(title_of(bot))
    for index, player in enumerate(policy["players"]):
        page.locator(f"label[for=player-{index}]").click()
        drawn = page.evaluate(GRID)
        assert len(drawn) == len(player["tables"])
        for table, wanted in zip(drawn, player["tables"], strict=True):
            assert table["title"].lower() == wanted["title"].lower()
            assert table["cards"] == wanted["cards"]
            for row, given in zip(table["rows"], wanted["rows"], strict=True):
                assert row["history"] == (given["history"].rstrip(" /") or "at the start")
                for text, cell in zip(row["cells"], given["cells"], strict=True):
                    assert (text is None) == (cell is None)
                    if cell is not None:
                        assert all(map(near, shares(text), cell))
                        assert len(shares(text)) == len(cell)


def test_the_grid_of_kuhn_poker_is_that_of_its_equilibrium(visit):
    """The second player's is known in closed form (Kuhn 1950): it bluffs and calls once in three."""
    page = visit("/policy?game=kuhn&bot=equilibrium")
    page.locator("label[for=player-1]").click()
    (table,) = page.evaluate(GRID)
    found = {row["history"]: [figures(shares(text)[-1])[0] for text in row["cells"]] for row in table["rows"]}
    assert found["check"] == pytest.approx([100 / 3, 0, 100], abs=1.5)
    assert found["bet"] == pytest.approx([0, 100 / 3, 100], abs=1.5)


@pytest.mark.slow
def test_a_policy_as_a_matrix_along_a_line(visit, server):
    page = visit("/policy?game=holdem&bot=chen")
    check_matrix(page, server, "")
    page.locator('[data-hand="AKs"]').click()
    expect(page.locator("#details h2")).to_contain_text("AKs")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#details h2")).to_contain_text("KK")
    page.locator('[data-way="raise"]').click()
    expect(page).to_have_url(re.compile("line=raise$"))
    check_matrix(page, server, "raise")
    page.locator('[data-way="raise"]').click()
    check_matrix(page, server, "raise,raise")
    page.locator('[data-crumb="0"]').click()
    check_matrix(page, server, "")
    page.go_back()
    check_matrix(page, server, "raise,raise")
    page.reload()
    check_matrix(page, server, "raise,raise")
    page.locator("#bot").select_option("always-call")
    expect(page.locator("#title")).to_contain_text("The Calling Station")
    page.locator('[data-hand="72o"]').hover()
    expect(page.locator("#details")).to_contain_text("100%")
    page.locator("#game").select_option("leduc")
    expect(page.locator("#title")).to_contain_text("Leduc")
    page.get_by_role("link", name="Play against it").click()
    page.wait_for_url("**/play/*")
    Player(page).play(1)


def check_matrix(page: Page, server: Server, line: str) -> None:
    matrix = server.get(f"/api/policy/preflop?{urlencode({'game': 'holdem', 'bot': 'chen', 'line': line})}")[
        1
    ]
    expect(page.locator("#line-text")).to_have_text(re.compile(re.escape(matrix["text"]) + r"\.$", re.I))
    reported = page.locator("[data-hand]").evaluate_all(
        "all => all.map((cell) => [cell.dataset.hand, cell.querySelector('.visually-hidden').textContent])"
    )
    assert len(reported) == 169
    for hand, label in reported:
        assert all(map(near, shares(label), matrix["cells"][hand]))
        assert len(shares(label)) == len(matrix["cells"][hand])
    overall = shares(page.locator(".overall p").text_content() or "")
    assert all(map(near, overall, matrix["overall"]))
    hands = {"AA": 6, "AKs": 4, "AKo": 12}
    weights = {hand: hands["AA"] if len(hand) == 2 else hands["AK" + hand[2]] for hand, _ in reported}
    assert sum(weights.values()) == math.comb(52, 2)
    mean = sum(weights[hand] * matrix["cells"][hand][-1] for hand, _ in reported) / math.comb(52, 2)
    assert near(overall[-1], mean)


# On a phone


@pytest.mark.parametrize(
    ("game", "bots"),
    [
        ("kuhn", ["random"]),
        slow("leduc(players=3)", ["random"] * 2),
        slow("holdem", ["always-call"]),
        slow("holdem(players=3)", ["chen"] * 2),
    ],
)
def test_playing_by_tap_on_a_phone(visit, server, database, game, bots):
    page = visit(**PHONE)
    page.locator(f'[data-game="{game}"] label').tap()
    if len(bots) == 1:
        page.locator(f'[data-bot="{bots[0]}"] label').tap()
    else:
        for place, bot in enumerate(bots):
            page.locator(f"select[name=bot{place}]").select_option(bot)
    assert overflow(page) == 0
    page.locator("#sit-down").tap()
    page.wait_for_url("**/play/*")
    player = Player(page, tap, game)
    assert overflow(page) == 0
    for _ in range(2):
        player.deal()
        while not player.over:
            assert overflow(page) == 0
            assert page.evaluate("scrollY") == 0
            for button in page.locator("[data-action]").all():
                expect(button).to_be_in_viewport(ratio=1)
            expect(page.locator("[data-you] .hole")).to_be_in_viewport(ratio=1)
            page.set_viewport_size({"width": 390, "height": 620})  # with the bars of the browser
            expect(page.locator("[data-action]").last).to_be_in_viewport(ratio=1)
            page.set_viewport_size(PHONE["viewport"])
            player.act_somehow()
        expect(page.locator("#next-hand")).to_be_in_viewport(ratio=1)
        assert overflow(page) == 0
        check_finished_hand(player, database, game)


@pytest.mark.slow
def test_no_page_is_wider_than_its_window(visit, server):
    hand = finished(server, "leduc(players=3)", "random", "random", wanted="board")
    drawn = {
        "/": "#sit-down:enabled",
        f"/play/{hand['session']}": "#hands li",
        f"/hand/{hand['link']}": "#losses[aria-busy=false]",
        "/policy?game=leduc(players=3)&bot=random": "#policy[data-ready]",
        "/policy?game=leduc&bot=random": "#policy[data-ready]",
        "/policy?game=kuhn&bot=random": "#policy[data-ready]",
        "/policy?game=holdem(players=3)&bot=chen&line=raise": "#matrix",
        f"/play/{'x' * 40}": "#error:visible",
        "/hand/nothing": "#error:visible",
    }
    visit.forgive(NOT_FOUND)
    page = visit.blank(**PHONE)
    for path, sign in drawn.items():
        page.goto(visit.url + path)
        page.locator(sign).first.wait_for()
        check_widths(page)
    page, _ = holdem_hand(visit, server, "chen", "random", **PHONE)
    for own in page.locator(".step-you").all():
        own.click()
        check_widths(page)


def check_widths(page: Page) -> None:
    """From the smallest phones, to where the columns come beside each other."""
    for width in (320, 390, 768, 1024):
        page.set_viewport_size({"width": width, "height": 800})
        assert (page.url, width, overflow(page)) == (page.url, width, 0)


# Themes


def brightness(page: Page) -> float:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(figures(colour)[:3]) / 3


@pytest.mark.slow
def test_themes(visit, server):
    dark = visit(color_scheme="dark")
    assert brightness(dark) < 60
    page = visit(color_scheme="light")
    assert brightness(page) > 200
    page.get_by_role("button", name="Use the dark theme").click()
    assert brightness(page) < 60
    page.reload()
    assert brightness(page) < 60
    page.goto(visit.url + "/policy?game=kuhn&bot=random")
    assert brightness(page) < 60
    page.get_by_role("button", name="Use the light theme").click()
    assert brightness(page) > 200
    page.emulate_media(color_scheme="dark")  # what was chosen here counts
    assert brightness(page) > 200
    page.goto(visit.url)
    assert brightness(page) > 200


TEXTS = {
    "lobby": "h1, .lead, .choice label, .choice p, .strength, .choice a, #sit-down, .top nav a, .foot p",
    "hand": ".seat-name, .stack, .post, .mark-turn, .pot strong, .street, .bet, #prompt, "
    "[data-kind=raise], [data-kind=call], [data-kind=fold], #account li, #title, #table-links a",
    "over": ".mark, #prompt, #next-hand, #review-hand, #fairness summary, #score-won, #score-rate, "
    ".figures th, .explain summary, .hand-number, .hand-won, .hand-line, .hand-luck-free, .legend .key, "
    "#downloads a",
    "replay": "#title, #result, #step-text strong, .step-said, .thought h3, .bar-label, .bar-value, .step, "
    ".step-chance, .loss-table td, .cost, #losses p, .check, #copy, .chosen",
    "policy": "#title, #strength, .action-legend li, .swatch, .segment, .grid caption, .grid th, #play-link, "
    ".stack-part:not([hidden]), .choose label",
    "matrix": ".hand-cell span, .line-text, .crumbs [aria-current], .overall p, .bar-label",
}


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_can_be_read(visit, server, theme):
    """The contrast of WCAG 2 (AA)."""
    page = visit(color_scheme=theme)
    expect(page.locator("#sit-down")).to_be_enabled()
    found = measured(page, "lobby")
    page.goto(f"{visit.url}/play/{server.begin('leduc', 'always-raise')}")
    player = Player(page)
    player.deal()
    player.act("c")
    found |= measured(page, "hand")
    player.call_on()
    found |= measured(page, "over")
    page.goto(f"{visit.url}{page.locator('#review-hand').get_attribute('href')}")
    expect(page.locator("#losses")).to_contain_text("Exact")
    own = page.locator(".step-you").first
    own.click()
    found |= measured(page, "replay")
    page.goto(f"{visit.url}/policy?game=leduc&bot=random")
    expect(page.locator("#grids")).to_be_visible()
    found |= measured(page, "policy")
    page.goto(f"{visit.url}/policy?game=holdem&bot=chen")
    expect(page.locator("#matrix")).to_be_visible()
    found |= measured(page, "matrix")
    assert {name: ratio for name, ratio in found.items() if ratio < 4.5} == {}


HOVERED = {
    "lobby": "#sit-down, #theme, .top nav a",
    "hand": "[data-kind=raise], [data-kind=call], [data-kind=fold]",
    "over": "#next-hand, #review-hand, #hands a .hand-line",
    "replay": "#copy, #step-first, .step-chance",
    "policy": "#play-link",
    "matrix": "[data-way]:enabled",
}


def measured(page: Page, name: str) -> dict[str, float]:
    """The contrast of some texts of a page, and of those under the mouse."""
    page.mouse.move(0, 0)
    found = {f"{name} {text}": settled_contrast(page, text) for text in TEXTS[name].split(", ")}
    for text in HOVERED[name].split(", "):
        page.locator(text).first.hover()
        found[f"{name} {text}, hovered"] = settled_contrast(page, text)
    return found


def settled_contrast(page: Page, selector: str) -> float:
    page.evaluate("Promise.all(document.getAnimations().map((each) => each.finished))")
    return round(contrast(page, selector), 2)


# Those who hear the page


def check_spoken(page: Page) -> None:
    nodes = spoken(page)
    roles = [role for role, _, _ in nodes]
    assert [(role, name) for role, name, _ in nodes if role in NAMED and not name.strip()] == []
    levels = [each["level"] for role, _, each in nodes if role == "heading"]
    assert levels.count(1) == 1
    assert all(low <= high + 1 for high, low in pairwise(levels)), levels
    assert (roles.count("main"), roles.count("banner")) == (1, 1)
    assert "navigation" in roles
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids))
    assert page.title()
    assert page.evaluate("document.documentElement.lang") == "en"


CARD = re.compile(
    r"(two|three|four|five|six|seven|eight|nine|ten|jack|queen|king|ace) of (clubs|diamonds|hearts|spades)"
)


@pytest.mark.slow
def test_pages_for_those_who_hear_them(visit, server):
    page = visit()
    expect(page.locator("#sit-down")).to_be_enabled()
    check_spoken(page)
    sit_down(page, "holdem", ["always-call"])
    player = Player(page)
    check_spoken(page)
    player.deal()
    check_spoken(page)
    cards = [name for role, name, _ in spoken(page) if role in ("image", "img")]
    assert cards.count("face-down card") == 2
    assert sum(bool(CARD.fullmatch(name)) for name in cards) == 2
    player.call_on()
    check_spoken(page)
    cards = [name for role, name, _ in spoken(page) if role in ("image", "img")]
    assert sum(bool(CARD.fullmatch(name)) for name in cards) == 9
    page, _ = holdem_hand(visit, server, "chen", "random")
    for _ in range(12):
        check_spoken(page)
        page.keyboard.press("ArrowRight")
    for query in ("game=leduc&bot=random", "game=holdem&bot=chen&line=raise"):
        page.goto(f"{visit.url}/policy?{query}")
        expect(page.locator("#policy")).to_have_attribute("data-ready", "")
        check_spoken(page)


# What does not exist


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("game=bridge&bot=default", "bridge"),
        ("game=holdem&bot=<b>nobody</b>", "<b>nobody</b>"),
        ("game=holdem(players=3)&bot=chen", "2"),
        ("game=holdem&bot=/etc/passwd", "/etc/passwd"),
    ],
)
@pytest.mark.slow
def test_a_link_to_an_unknown_game_or_bot(visit, query, said):
    """It gets a sentence, and the lobby is there to choose another."""
    visit.forgive("status of 40")
    page = visit(f"/?{quote(query, safe='=&')}")
    expect(page.get_by_role("alert")).to_contain_text(said)
    assert page.locator("#error *").count() == 0
    assert (page.locator("#error").text_content() or "").endswith(".")
    sit_down(page, "kuhn", ["random"])
    Player(page).play(1)


@pytest.mark.slow
def test_links_to_nothing(visit):
    visit.forgive("status of 40")
    page = visit("/play/nothing")
    expect(page.get_by_role("alert")).to_contain_text("This session does not exist.")
    page.get_by_role("link", name="Go to the lobby").click()
    expect(page.locator("#sit-down")).to_be_enabled()
    expect(page.locator("#earlier")).to_be_hidden()
    page.goto(visit.url + "/hand/nothing")
    expect(page.get_by_role("alert")).to_contain_text("No finished hand has this link.")
    page.goto(visit.url + "/policy?game=leduc&bot=nobody")
    expect(page.get_by_role("alert")).to_contain_text("nobody")
    page.goto(visit.url + "/policy?game=bridge&bot=nobody")
    expect(page.get_by_role("alert")).to_contain_text("bridge")
    page.goto(visit.url + "/policy?game=holdem&bot=chen&line=fold,fold")
    expect(page.get_by_role("alert")).to_be_visible()
    page.locator("#game").select_option("kuhn")
    expect(page.locator("#grids")).to_be_visible()
    expect(page.get_by_role("alert")).to_be_hidden()


@pytest.mark.slow
def test_going_back_from_the_table(visit):
    """The lobby can be used again, and knows the session."""
    page = visit()
    sit_down(page, "kuhn", ["random"])
    Player(page).play(1)
    session = Player(page).session
    page.go_back()
    expect(page.locator("#sit-down")).to_be_enabled()
    expect(page.locator(f'[data-session="{session}"]')).to_contain_text("1 hand")
    page.get_by_role("link", name=re.compile("^Resume")).click()
    player = Player(page)
    assert (player.session, player.number) == (session, 1)
    player.play(1)
    page.goto(f"{visit.url}/?game=leduc&bot=random")  # as `felt play leduc --bot random` opens it
    page.wait_for_url("**/play/*")
    Player(page).play(1)
    page.go_back()
    expect(page.locator("#sit-down")).to_be_enabled()
    expect(page.locator("#sessions li")).to_have_count(2)


# With a token


@pytest.mark.slow
def test_a_token_is_asked_for(chrome, tmp_path):
    with (
        thread_server(tmp_path / "table.db", token="open sesame") as server,
        Visits(chrome, server.url) as visit,
    ):
        visit.forgive("status of 401")
        page = visit("/policy")
        for given in ("", "open"):
            expect(page.get_by_role("heading")).to_contain_text("needs a token")
            if given:
                page.get_by_label("Token").fill(given)
                page.get_by_role("button").click()
        assert page.request.get(f"{server.url}/api/lobby").status == 401
        assert page.request.post(f"{server.url}/api/sessions", data="{}").status == 401
        page.get_by_label("Token").fill("open sesame")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{server.url}/policy")  # where one wanted to go
        assert "sesame" not in page.url
        begun = page.request.post(f"{server.url}/api/sessions", data={"game": "kuhn", "bots": ["random"]})
        page.goto(f"{server.url}/play/{begun.json()['session']}")
        player = Player(page)
        player.play(1)
        expect(page.locator("#fairness")).to_have_attribute("data-fair", "fair")
        other_page = visit(f"/play/{player.session}")  # who knows the session still needs the token
        expect(other_page.get_by_role("heading")).to_contain_text("needs a token")
        linked = visit(f"/play/{player.session}?token=open+sesame")
        assert linked.url == page.url
        Player(linked).play(1)
