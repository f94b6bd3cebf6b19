"""The spot solver in a real browser: ranges are painted, a board is picked, a spot is solved and browsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from browser import NAMED, PHONE, Page, Visits, browser, contrast, expect, overflow, spoken, tab_to
from table_player import Server, Window, thread_server

from openfelt.cards.deck import parse_cards
from openfelt.cards.ranges import parse_range
from openfelt.spots.solver import memory_needed
from openfelt.spots.spot import Spot

pytestmark = [pytest.mark.true_board_buckets, pytest.mark.usefixtures("no_lobby")]

TO_COMPILE = 400_000  # milliseconds, on a busy machine
BOARD = ("2c", "3d", "4h", "8s", "9s")


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    with thread_server(tmp_path_factory.mktemp("spots") / "table.db") as found:
        yield found


@pytest.fixture
def visit(chrome, server) -> Iterator[Visits]:
    with Visits(chrome, server.url) as visits:
        yield visits


def open_form(visit: Visits, **options: Any) -> Page:
    page = visit("/spot", **options)
    page.locator("#main[data-ready]").wait_for()
    return page


def text_of(page: Page, player: str) -> Any:
    return page.locator(f"#range-{player}-text")


def cell(page: Page, player: str, name: str) -> Any:
    return page.locator(f'#range-{player} [data-hand="{name}"]')


def clear(page: Page, player: str) -> None:
    page.locator(f"#range-{player}").get_by_role("button", name="Clear").click()
    expect(text_of(page, player)).to_have_value("")


def drag(page: Page, player: str, *names: str) -> None:
    """Over cells, with the button down."""
    for place, name in enumerate(names):
        box = cell(page, player, name).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        if place == 0:
            page.mouse.down()
    page.mouse.up()


def pick(page: Page, *cards: str) -> None:
    for card in cards:
        page.locator(f'#board-picker [data-pick="{card}"]').click()


def solve(page: Page) -> None:
    page.locator("#solve:enabled").wait_for()
    page.locator("#solve").click()
    page.locator("#spot-matrix").wait_for(timeout=TO_COMPILE)


def percentages(texts: list[str]) -> list[float]:
    return [float(re.search(r"([\d.]+)%", text)[1]) / 100 for text in texts]


def test_a_range_is_painted_and_written(visit):
    page = open_form(visit)
    clear(page, "oop")
    drag(page, "oop", "AA", "KK", "QQ")
    expect(text_of(page, "oop")).to_have_value("QQ+")
    page.locator("#range-oop-weight").fill("50")
    cell(page, "oop", "AKs").click()
    expect(text_of(page, "oop")).to_have_value("QQ+, AKs:0.5")
    cell(page, "oop", "AKs").click()  # the same weight again takes it out
    expect(text_of(page, "oop")).to_have_value("QQ+")
    text_of(page, "oop").fill("77, A5s-A2s:0.25, AhKd")
    expect(cell(page, "oop", "77")).to_have_attribute("title", "77: 100%")
    expect(cell(page, "oop", "A3s")).to_have_attribute("title", "A3s: 25%")
    expect(cell(page, "oop", "QQ")).to_have_attribute("title", "QQ: not in the range")
    cell(page, "oop", "22").click()
    expect(text_of(page, "oop")).to_have_value("77, 22:0.5, A5s-A2s:0.25, AhKd")
    visit.forgive("the server responded with a status of 400")
    text_of(page, "oop").fill("77, hello")
    expect(page.locator("#range-oop-error")).to_contain_text("hello")
    cell(page, "oop", "33").click()  # continues from the last valid range
    expect(text_of(page, "oop")).to_have_value("77, 33-22:0.5, A5s-A2s:0.25, AhKd")
    expect(page.locator("#range-oop-error")).to_be_hidden()


def test_a_river_is_solved_and_browsed(visit):
    page = open_form(visit)
    for player, names in (("oop", ("AA", "QQ")), ("ip", ("KK",))):
        clear(page, player)
        for name in names:
            cell(page, player, name).click()
    expect(text_of(page, "oop")).to_have_value("AA, QQ")
    expect(text_of(page, "ip")).to_have_value("KK")
    expect(page.locator("#memory")).to_contain_text("three to five cards")
    expect(page.locator("#solve")).to_be_disabled()
    pick(page, *BOARD)
    page.locator("#stack").fill("100")
    page.locator("#bets").fill("100%")
    page.locator("#until").fill("0.1")
    expect(page.locator("#memory")).to_contain_text("Needs 0.1 MB of memory (limit 2 GB)")
    solve(page)
    solution = Spot(
        oop="AA,QQ", ip="KK", board="".join(BOARD), pot=100, stack=100, bets="100%", raises="2.5x"
    ).solve(0.1)
    expect(page.locator("#progress")).to_contain_text(f"Solved: {solution.iterations} iterations")
    check_position(page, solution, "")
    page.locator('[data-action="a"]').click()
    check_position(page, solution, "a")
    page.locator('[data-action="c"]').click()
    page.locator('#result[data-line="a c"]').wait_for()
    expect(page.locator("#position")).to_have_text("Showdown")
    page.locator('[data-crumb="0"]').click()
    check_position(page, solution, "")
    page.go_back()
    page.locator('#result[data-line="a c"]').wait_for()
    page.reload()
    page.locator('#result[data-line="a c"]').wait_for()
    expect(text_of(page, "oop")).to_have_value("AA, QQ")  # the form is filled in again


def check_position(page: Page, solution: Any, line: str) -> None:
    """The displayed frequencies, values and hands are those of the library."""
    page.locator(f'#result[data-line="{line}"]').wait_for()
    node = solution.node(line)
    actions = page.locator("[data-action]")
    codes = actions.evaluate_all("all => all.map((each) => each.dataset.action)")
    assert codes == [action.code for action in node.actions]
    assert percentages(actions.all_text_contents()) == pytest.approx(node.frequencies.tolist(), abs=0.000501)
    for number, player in enumerate(("oop", "ip")):
        shown = page.locator(f'[data-value="{player}"]').text_content().replace("−", "-")
        assert f"EV {node.values[number]:.2f}" in shown
        assert f"equity {100 * node.equities[number]:.1f}%" in shown
    name = ("QQ", "KK")[node.player]
    page.locator(f'#spot-matrix [data-hand="{name}"]').click()
    rows = {row["hand"]: row for row in node.hands() if row["hand"][0] == name[0]}
    assert page.locator("#hands tbody tr").count() == len(rows) == 6
    for hand, row in rows.items():
        texts = page.locator(f'#hands [data-combo="{hand}"] td').all_text_contents()
        shares = percentages(texts[1 : 1 + len(node.actions)])
        assert shares == pytest.approx([row[code] for code in codes], abs=0.000501)
        assert float(texts[-3].replace("−", "-")) == pytest.approx(row["ev"], abs=0.00501)
        assert percentages(texts[-2:-1])[0] == pytest.approx(row["equity"], abs=0.000501)
    page.locator(f'#spot-matrix [data-hand="{name}"]').click()  # no longer pinned


@pytest.fixture(scope="module")
def turn_address(chrome, server) -> str:
    """A solved turn, by the form and the keyboard."""
    with Visits(chrome, server.url) as visits:
        page = open_form(visits)
        text_of(page, "oop").fill("AA,QQ,T9s,76s:0.5")
        text_of(page, "ip").fill("KK,JJ,98s,A5s")
        pick(page, *BOARD[:4])
        page.locator(".more-sizes summary").click()
        page.locator('[data-sizes="bets"][data-key="ip river"]').fill("none")
        page.locator("#bets").fill("50%, a")
        solve(page)
        return page.url.removeprefix(server.url)


def test_the_next_card_is_picked_from_a_table(visit, turn_address):
    page = visit(turn_address)
    page.locator("#spot-matrix").wait_for()
    page.locator('[data-action="x"]').click()
    page.locator('#result[data-line="x"]').wait_for()
    page.locator('[data-action="x"]').click()
    page.locator("#runouts").wait_for()
    rows = page.locator("#runouts tbody tr")
    assert rows.count() == 48
    page.locator('[data-sort="x"]').click()
    shown = percentages(page.locator("#runouts tbody tr td:nth-child(2)").all_text_contents())
    assert shown == sorted(shown, reverse=True)
    page.locator('[data-sort="x"]').click()
    shown = percentages(page.locator("#runouts tbody tr td:nth-child(2)").all_text_contents())
    assert shown == sorted(shown)
    first = rows.first.get_attribute("data-card")
    rows.first.locator("button").click()
    page.locator(f'#result[data-line="x x {first}"]').wait_for()
    assert percentages(page.locator('[data-action="x"]').all_text_contents()) == shown[:1]
    page.locator('[data-action="x"]').click()
    page.locator(f'#result[data-line="x x {first} x"]').wait_for()
    assert page.locator("[data-action]").count() == 1  # IP may not bet on the river
    page.locator('.segment input[value="oop"]').check()
    expect(page.locator("#spot-matrix")).to_have_attribute("aria-label", "Range of OOP")
    for view, label in (("ev", "EV"), ("equity", "Equity")):
        page.locator(f'.segment input[value="{view}"]').check()
        expect(page.locator("#spot-matrix")).to_have_attribute("aria-label", f"{label} of OOP")


def test_a_solution_is_browsed_by_keyboard(visit, turn_address):
    page = visit(turn_address)
    page.locator("#spot-matrix").wait_for()
    tab_to(page, '[data-action="x"]')
    page.keyboard.press("Enter")
    page.locator('#result[data-line="x"]').wait_for()
    assert page.evaluate("document.activeElement.id") == "position"
    tab_to(page, "#spot-matrix [data-hand]")
    for key in ("Home", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    focused = page.evaluate("document.activeElement.dataset.hand")
    expect(page.locator("#hands h3")).to_contain_text(focused)
    page.goto(page.url + "+x")
    page.locator("#runouts").wait_for()
    tab_to(page, ".deck [data-pick]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator('#result[data-line="x x Ks"]').wait_for()


def test_ranges_and_boards_are_chosen_by_keyboard(visit):
    page = open_form(visit)
    clear(page, "oop")
    tab_to(page, "#range-oop-grid [data-hand]")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(text_of(page, "oop")).to_have_value("AA, AKs")
    tab_to(page, "#board-picker [data-pick]")
    for _ in range(3):
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
    expect(page.locator("#board-cards")).to_contain_text("flop")


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_and_text_can_be_read(scheme, options, visit, turn_address):
    page = open_form(visit, color_scheme=scheme, **options)
    assert overflow(page) == 0
    for selector in (".range-in", ".range-cell:not(.range-in)", ".deck-card", "#memory"):
        assert contrast(page, selector) >= 4.5
    for line in ("", "&line=x", "&line=x+x", "&line=x+x+Ks"):
        page.goto(f"{visit.url}{turn_address}{line}")
        page.locator("#result #runouts, #result #spot-matrix").first.wait_for()
        assert overflow(page) == 0
    for selector in (
        ".spot-cell:not(.spot-cell-out)",
        ".spot-cell-out",
        ".often",
        ".hand-table td",
    ):
        assert contrast(page, selector) >= 4.5
    unnamed = [role for role, name, _ in spoken(page) if role in NAMED and not name]
    assert not unnamed


def test_a_spot_that_is_too_large_is_refused_before_solving(visit):
    page = open_form(visit)
    for player in ("oop", "ip"):
        page.locator(f"#range-{player}").get_by_role("button", name="All").click()
        expect(text_of(page, player)).to_have_value("random")
    page.locator("#bets").fill("33%, 75%, 150%, a")
    page.locator("#stack").fill("1000")
    pick(page, "Td", "9d", "6h")
    expect(page.locator("#memory")).to_contain_text("GB of memory and this server allows 2.0 GB")
    expect(page.locator("#solve")).to_be_disabled()


def test_a_finished_hand_is_solved_from_its_river(visit, server):
    with Window(server, server.begin("holdem", "always-call")) as window:
        window.deal()
        while not window.hand["over"]:
            window.act(next(each["word"] for each in window.hand["actions"] if each["key"] == "c"))
        link, board = window.hand["link"], "".join(window.hand["board"])
    page = visit(f"/hand/{link}")
    page.locator("#main[data-ready]").wait_for()
    expect(page.locator("#solve-here")).to_be_hidden()  # before the flop
    page.locator("#step-last").click()
    page.locator("#solve-here").click()
    page.locator("#main[data-ready]").wait_for()
    expect(page.locator("#notice")).to_contain_text("The river of a hand against The Calling Station")
    expect(page.locator("#bets")).to_have_value("limit")
    expect(page.locator("#pot")).to_have_value("4")
    solve(page)
    expect(page.locator("#position")).to_have_text("OOP to act")
    codes = page.locator("[data-action]").evaluate_all("all => all.map((each) => each.dataset.action)")
    assert codes == ["x", "b4"]
    status = server.get(f"/api/spot/solves/{page.url.split('solve=')[1]}")[1]
    assert parse_cards(status["form"]["board"]) == parse_cards(board)


def test_an_unknown_solution_gets_a_sentence(visit):
    visit.forgive("the server responded with a status of 404")
    page = visit("/spot?solve=unknown")
    expect(page.locator("#error")).to_contain_text("no longer kept")
    expect(text_of(page, "oop")).to_have_value(re.compile("JJ"))
    assert parse_range(text_of(page, "oop").input_value()).sum() == 240


@pytest.fixture(scope="module")
def river_address(chrome, server) -> str:
    """Aces and queens against kings."""
    with Visits(chrome, server.url) as visits:
        page = open_form(visits)
        text_of(page, "oop").fill("AA, QQ")
        text_of(page, "ip").fill("KK")
        pick(page, *BOARD)
        page.locator("#stack").fill("100")
        page.locator("#bets").fill("100%")
        page.locator("#until").fill("0.1")
        solve(page)
        return page.url.removeprefix(server.url)


def solve_again(page: Page) -> None:
    before = page.url
    page.locator("#solve:enabled").wait_for()
    page.locator("#solve").click()
    page.wait_for_url(lambda url: url != before)
    page.locator("#spot-matrix").wait_for(timeout=TO_COMPILE)


def test_a_decision_is_locked_by_hand_and_compared(visit, river_address):
    page = visit(f"{river_address}&line=a")
    page.locator('#result[data-line="a"] #spot-matrix').wait_for()
    page.locator("#lock-editor summary").click()
    page.locator("#lock-set").click()
    expect(page.locator("#lock-editor [role=alert]")).to_contain_text("above 0")
    page.locator('#spot-matrix [data-hand="KK"]').click()
    page.locator("#lock-class").click()
    expect(page.locator("#lock-hands")).to_have_value("KK")
    page.locator('[data-lock="c"]').fill("100")
    page.locator("#lock-set").click()
    expect(page.locator("#lock-list")).to_contain_text("After OOP all-in: KK: call 100%")
    expect(page.locator("#lock-state")).to_contain_text("Solve again")
    solve_again(page)
    expect(page.locator('[data-value="oop"]')).to_contain_text("EV 100.0")
    page.locator("#compare").select_option(index=1)
    expect(page.locator("#changed")).to_contain_text(re.compile(r"2\d\.\d% of the range plays differently"))
    page.locator('[data-action="a"]').click()
    page.locator('#result[data-line="a"]').wait_for()
    expect(page.locator(".locked")).to_have_text("Locked")
    expect(page.locator('[data-action="c"] .often')).to_have_text("100.0%")
    expect(page.locator("#changed")).to_be_visible()
    page.locator("#lock-list button").click()
    expect(page.locator("#locks")).to_be_hidden()
    solve_again(page)
    expect(page.locator('[data-value="oop"]')).to_contain_text("EV 75.")


def test_a_solution_is_saved_and_loaded(visit, river_address, tmp_path):
    page = visit(river_address)
    page.locator("#spot-matrix").wait_for()
    with page.expect_download() as waiting:
        page.locator("#save").click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    assert path.name == "solution.zip"
    other = open_form(visit)
    expect(other.locator("#save")).to_be_hidden()
    other.locator("#load-file").set_input_files(path)
    other.locator("#spot-matrix").wait_for()
    expect(other.locator("#progress")).to_contain_text("Loaded: ")
    expect(other.locator('[data-value="oop"]')).to_contain_text("EV 75.")
    expect(text_of(other, "ip")).to_have_value("KK")
    other.reload()
    other.locator("#spot-matrix").wait_for()
    visit.forgive("the server responded with a status of 400")
    path.write_bytes(b"nothing")
    other.locator("#load-file").set_input_files(path)
    expect(other.locator("#error")).to_contain_text("not a zip archive of a solution")


def test_tables_of_16_bits_are_an_option(visit):
    page = open_form(visit)
    pick(page, *BOARD[:4])
    page.locator(".more-sizes summary").click()
    ranges = {player: text_of(page, player).input_value() for player in ("oop", "ip")}
    spot = Spot(**ranges, board="".join(BOARD[:4]), pot=100, stack=300, bets="60%", raises="2.5x")
    for compress in (False, True):
        page.locator("#compress").set_checked(compress)
        size = memory_needed(spot, compress=compress) / 1e6
        expect(page.locator("#memory")).to_contain_text(f"Needs {round(size, 1):g} MB of memory")


def test_a_bot_is_locked_to_its_policy(visit, server):
    with Window(server, server.begin("holdem", "always-call")) as window:
        window.deal()
        while not window.hand["over"]:
            window.act(next(each["word"] for each in window.hand["actions"] if each["key"] == "c"))
        link = window.hand["link"]
        last = len(server.get(f"/api/hands/{link}")[1]["steps"]) - 1
    page = visit(f"/spot?hand={link}&step={last}")
    page.locator("#main[data-ready]").wait_for()
    page.locator("#lock-bot").click()
    expect(page.locator("#lock-list")).to_contain_text(", every decision as The Calling Station plays")
    solve(page)
    bot = "IP" if "IP, every" in page.locator("#lock-list").text_content() else "OOP"
    if bot == "IP":
        page.locator('[data-action="b4"]').click()
        page.locator('#result[data-line="b4"]').wait_for()
        expect(page.locator('[data-action="c"] .often')).to_have_text("100.0%")
    expect(page.locator(".locked")).to_be_visible()


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_locks_and_comparisons_fit_and_can_be_read(scheme, options, visit, river_address, turn_address):
    visit.forgive("the server responded with a status of 400")
    page = visit(turn_address, color_scheme=scheme, **options)
    page.locator("#spot-matrix").wait_for()
    page.goto(f"{visit.url}{river_address}&line=a")
    page.locator('#result[data-line="a"] #spot-matrix').wait_for()
    page.locator("#lock-editor summary").click()
    page.locator("#lock-hands").fill("KhKd, KsKc")
    page.locator('[data-lock="f"]').fill("30")
    page.locator('[data-lock="c"]').fill("70")
    page.locator("#lock-set").click()
    page.locator("#lock-keep").click()
    page.locator("#compare").select_option(index=1)
    expect(page.locator("#comparison")).to_contain_text("do not have the same actions")
    assert overflow(page) == 0
    for selector in ("#lock-list span", "#lock-state", ".lock-fields label span", "#load", "#comparison p"):
        assert contrast(page, selector) >= 4.5
    unnamed = [role for role, name, _ in spoken(page) if role in NAMED and not name]
    assert not unnamed
    solve_again(page)
    page.goto(f"{page.url}&line=a")
    page.locator(".locked").wait_for()
    assert contrast(page, ".locked") >= 4.5
    page.locator(f'#compare option[value="{river_address.split("solve=")[1]}"]').wait_for(state="attached")
    page.locator("#compare").select_option(value=river_address.split("solve=")[1])
    page.locator("#comparison table").wait_for()
    assert overflow(page) == 0
