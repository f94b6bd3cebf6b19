"""The table in a real browser: pace, settings, live aids, double clicks, and what fits the window."""

from __future__ import annotations

import random

import pytest
from browser import PHONE, Page, Player, at_table, expect, figures, finished, looks, overflow, tap
from table_player import HIDDEN, Window

from openfelt.cards.equity import equity as felt_equity

NORMAL = {"speed": "normal", "folded": False}


# The mouse


@pytest.mark.parametrize("options", [{}, PHONE])
def test_a_double_click_on_next_hand_deals_and_does_nothing_more(visit, server, options):
    """The second click comes when an action is already under the pointer."""
    player = at_table(visit, server, "leduc", "always-call", **options)
    page = player.page
    page.evaluate(
        """() => {
          window.hits = [];
          const box = document.getElementById("actions");
          new MutationObserver(() => {
            const [x, y] = window.pointer;
            for (const button of box.querySelectorAll("[data-action]")) {
              const { left, right } = button.getBoundingClientRect();
              const hit = document.elementFromPoint(x, y)?.closest("[data-action]");
              if (left < x && x < right) window.hits.push(hit);
            }
          }).observe(box, { childList: true });
        }"""
    )
    for number in range(1, 4):
        page.locator("#actions:not(.settling) #next-hand").wait_for()
        box = page.locator("#next-hand").bounding_box()
        place = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        page.evaluate("place => { window.pointer = place; }", place)
        page.mouse.dblclick(*place, delay=5)
        page.locator(f'#table[data-hand="{number}"]').wait_for()
        page.locator("[data-action]:enabled").first.wait_for()
        assert not any(line.startswith("You ") for line in player.lines()[1:])
        player.call_on()
    hits = page.evaluate("window.hits.map((hit) => hit?.dataset.action ?? null)")
    assert hits
    assert set(hits) == {None}


# Pace


def test_bots_act_at_a_human_pace(visit, server):
    """Each event is seen on its own, with the last action of each seat, and none of it tells hidden cards."""
    player = at_table(visit, server, "leduc", "always-call", settings=NORMAL)
    page = player.page
    page.evaluate(
        """() => {
          window.shown = [];
          const table = document.getElementById("table");
          new MutationObserver(() => window.shown.push({
            lines: document.querySelectorAll("#account li").length,
            last: [...table.querySelectorAll("[data-last]")].map((node) => node.dataset.last),
            cards: [...table.querySelectorAll("[data-seat]:not([data-you]) [data-card]")]
              .map((node) => node.dataset.card),
            stack: [...table.querySelectorAll(".stack")].map((node) => node.textContent).join(),
            over: Boolean(document.getElementById("next-hand")),
          })).observe(table, { childList: true });
        }"""
    )
    player.deal()
    player.page.locator("[data-action]:enabled").first.wait_for()
    page.evaluate("window.shown = []")
    page.locator("[data-action][aria-keyshortcuts=r]").click()
    page.locator("[data-action]:enabled").first.wait_for()
    shown = page.evaluate("window.shown")
    assert ["Bet 2"] in [each["last"] for each in shown]
    assert ["Bet 2", "Call 2"] in [sorted(each["last"]) for each in shown]
    assert len({each["lines"] for each in shown}) >= 2
    page.evaluate("window.shown = []")
    page.locator("[data-action][aria-keyshortcuts=c]").click()
    page.locator("#next-hand").wait_for()
    shown = page.evaluate("window.shown")
    assert {card for each in shown[:1] for card in each["cards"]} == {HIDDEN}
    assert len({each["stack"] for each in shown}) >= 2  # the pot is paid after it was shown


def test_a_click_or_space_skips_what_is_shown(visit, server):
    for skip in ("click", "Space"):
        player = at_table(visit, server, "leduc", "always-call", settings={"speed": "slow"})
        page = player.page
        player.deal()
        page.locator("[data-action][aria-keyshortcuts=r]").click()
        page.locator("#account li", has_text="You bet").wait_for()
        page.locator("#table").click() if skip == "click" else page.keyboard.press(skip)
        skipped = 2_000  # milliseconds; two steps of the slow pace take 2,600
        expect(page.locator("[data-action]:enabled").first).to_be_visible(timeout=skipped)


def test_folded_hands_stay_hidden_unless_wanted(visit, server):
    player = at_table(visit, server, "holdem", "always-raise", settings={"speed": "instant"})
    page = player.page
    player.deal()
    player.act("f")
    table = looks(page)
    you = page.locator("[data-you]").get_attribute("data-seat")
    assert [cards for seat, cards in table["seats"].items() if seat != you] == [[HIDDEN] * 2]
    expect(page.locator("#fairness")).to_have_attribute("data-fair", "fair")
    page.keyboard.press("s")
    page.get_by_label("Show folded hands").check()
    page.keyboard.press("Escape")
    assert all(HIDDEN not in cards for cards in looks(page)["seats"].values())


# Settings and aids


def test_settings_by_keys_and_after_a_reload(visit, server):
    player = at_table(visit, server, "holdem", "always-call")
    page = player.page
    player.deal()
    page.keyboard.press("s")
    dialog = page.get_by_role("dialog", name="Settings")
    expect(dialog).to_be_visible()
    page.keyboard.press("c")  # keys of the table do not act behind it
    assert not any(line.startswith("You c") for line in player.lines())
    dialog.get_by_label("Amounts in hold'em").select_option("big blinds")
    expect(page.locator(".pot strong")).to_have_text("2 bb")
    dialog.get_by_label("Show pot odds").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.reload()
    Player(page)
    expect(page.locator(".pot strong")).to_have_text("2 bb")
    expect(page.locator("#account")).to_contain_text("big blind of 1 bb")
    expect(page.locator("#aids")).not_to_contain_text("Pot odds")


def test_keys_are_listed(visit, server):
    page = at_table(visit, server, "kuhn", "random").page
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("Check or call")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)


def test_the_hand_is_named_and_the_price_of_a_call(visit, server):
    player = at_table(visit, server, "holdem", "always-raise")
    page = player.page
    player.deal()
    while not player.over:
        said = page.locator("#aids").text_content() or ""
        assert said.startswith("You have ")
        seats = page.locator("[data-seat]")
        pot = float(page.locator("[data-pot]").get_attribute("data-pot"))
        call = figures(page.locator("[data-action][aria-keyshortcuts=c]").text_content())
        if call:
            odds, _, price, against, share = figures(said)[-5:]
            assert (price, against) == (call[0], pot)
            assert odds == pytest.approx(pot / call[0], abs=0.051)
            assert share == pytest.approx(100 * call[0] / (pot + call[0]), abs=0.51)
        else:
            assert "Pot odds" not in said
        assert seats.count() == 2
        player.act("c")
    expect(page.locator("#aids")).to_be_hidden()


def test_hands_are_dealt_by_themselves_if_wanted(visit, server):
    player = at_table(visit, server, "kuhn", "always-call", settings={"speed": "instant", "autodeal": True})
    player.deal()
    player.call_on()
    expect(player.page.locator("#table")).to_have_attribute("data-hand", "2")


def test_sounds_are_made_only_if_wanted(visit, server):
    count = """() => {
      window.tones = 0;
      const start = OscillatorNode.prototype.start;
      OscillatorNode.prototype.start = function (...when) { window.tones += 1; start.apply(this, when); };
    }"""
    for wanted in (False, True):
        player = at_table(
            visit, server, "kuhn", "always-call", settings={"speed": "instant", "sound": wanted}
        )
        player.page.evaluate(count)
        player.deal()
        player.call_on()
        assert (player.page.evaluate("window.tones") > 0) == wanted


# What fits


def test_many_hands_leave_no_blank_space(visit, server):
    with Window(server, server.begin("leduc", "random")) as window:
        dice = random.Random(1)
        for _ in range(120):
            window.deal()
            window.play_on(dice)
    page = visit(f"/play/{window.session}")
    expect(page.locator("#hands li")).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator("#hands li")).to_have_count(100)
    height = page.evaluate("document.scrollingElement.scrollHeight")
    bottom = "(each) => each.getBoundingClientRect().bottom + scrollY"
    low = max(page.locator(".panel").evaluate_all(f"all => all.map({bottom})"))
    assert height < low + 100


@pytest.mark.parametrize("game", ["holdem", "holdem(players=3)"])
def test_the_matrix_fits_the_window(visit, game):
    page = visit(f"/policy?game={game}&bot=chen")
    page.locator("#matrix").wait_for()
    for hand in ("AA", "22", "32o"):
        expect(page.locator(f'[data-hand="{hand}"]')).to_be_in_viewport(ratio=1)
    assert page.locator('[data-hand="AKs"]').bounding_box()["height"] >= 24  # of a target, by WCAG 2.2


def test_opponents_are_on_the_first_screen_of_a_phone(visit):
    page = visit(**PHONE)
    page.locator("#sit-down:enabled").wait_for()
    expect(page.locator('[data-bot="default"] label')).to_be_in_viewport(ratio=1)
    assert overflow(page) == 0


# The replay


def test_a_dealt_card_is_on_the_board_at_its_own_step(visit, server):
    hand = finished(server, "leduc", "always-call", wanted="board")
    page = visit(f"/hand/{hand['link']}")
    page.locator("#losses[aria-busy=false]").wait_for()
    page.locator("#steps button", has_text="The board card").click()
    assert looks(page)["board"] == hand["board"]
    page.keyboard.press("ArrowLeft")
    assert looks(page)["board"] == []


def test_the_list_of_steps_follows_the_step(visit, server):
    hand = finished(server, "holdem", "always-raise", wanted="River")
    page = visit.blank()
    page.route("**/losses", lambda route: route.fulfill(json={"explain": "None.", "decisions": []}))
    page.goto(f"{visit.url}/hand/{hand['link']}")
    page.locator("#losses[aria-busy=false]").wait_for()
    page.keyboard.press("Home")
    for key in ("ArrowRight", "ArrowLeft"):
        for _ in range(page.locator("#steps button").count()):
            assert step_is_in_its_list(page)
            page.keyboard.press(key)


def step_is_in_its_list(page: Page) -> bool:
    inside = """() => {
      const bounds = (selector) => document.querySelector(selector).getBoundingClientRect();
      const [box, now] = [bounds("#steps"), bounds("#steps [aria-current]")];
      return now.top >= box.top - 1 && now.bottom <= box.bottom + 1;
    }"""
    return bool(page.evaluate(inside))


def test_a_search_bot_says_what_it_considered(visit, server):
    hand = finished(server, "leduc", "mcts")
    review = server.get(f"/api/hands/{hand['link']}")[1]
    thoughts = [step["thoughts"][0] for step in review["steps"] if step["mover"] not in (-1, review["seat"])]
    assert thoughts
    assert all(sum(thought["visits"]) >= 1_000 and not thought["probabilities"] for thought in thoughts)
    page = visit(f"/hand/{hand['link']}")
    page.locator(".step-bot").first.click()
    expect(page.locator("#decision")).to_contain_text("What The Explorer considered")
    expect(page.locator(".search-table td").first).to_contain_text("%")
    page.goto(f"{visit.url}/play/{hand['session']}")
    Player(page, tap)
    expect(page.locator("#table-links a[data-policy]")).to_have_count(0)  # it has no ranges
    expect(page.locator("#score-luck-free")).not_to_have_text("–")
    page.goto(visit.url)
    page.locator('[data-game="leduc"] label').click()
    expect(page.locator('[data-bot="mcts"]')).to_contain_text("EV losses are not available")
    expect(page.locator('[data-bot="mcts"] a')).to_have_count(0)


def test_equities_in_the_review(visit, server):
    """Of the hands as they were dealt; never while the bots' cards are hidden."""
    hand = finished(server, "holdem", "always-call", wanted="River")
    review = server.get(f"/api/hands/{hand['link']}")[1]
    page = visit.blank()
    page.route("**/losses", lambda route: route.fulfill(json={"explain": "None.", "decisions": []}))
    page.goto(f"{visit.url}/hand/{hand['link']}")
    page.locator("#losses[aria-busy=false]").wait_for()
    page.keyboard.press("Home")
    for step in review["steps"]:
        shown = [
            float(text)
            for text in page.locator("[data-equity]").evaluate_all(
                "all => all.map((each) => each.dataset.equity)"
            )
        ]
        assert sorted(shown) == pytest.approx(sorted(step["equities"]))
        assert sum(step["equities"]) == pytest.approx(1)
        cards = [seat["cards"] for seat in step["table"]["seats"]]
        assert step["equities"][0] == pytest.approx(
            felt_equity("".join(cards[0]), "".join(cards[1]), "".join(step["table"]["board"]))
        )
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    page.get_by_label("Hide the bots' cards").check()
    expect(page.locator("[data-equity]")).to_have_count(0)
    page.get_by_label("Hide the bots' cards").uncheck()
    expect(page.locator("[data-equity]")).to_have_count(2)
    page.locator("#show-settings").click()
    page.get_by_label("Show equities").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("[data-equity]")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Previous step")
