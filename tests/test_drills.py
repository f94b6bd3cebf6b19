"""Drills: what is asked, how it is judged, what comes back when, and that nothing hidden is sent."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from speed import slow
from table_player import SIGNS, Window, plain_deck, plain_shuffle, thread_server

from openfelt.core.errors import FeltError, FileError, MissingError
from openfelt.games.compile.compiler import compile_game
from openfelt.games.registry import load_game
from openfelt.measure.action_values import action_values
from openfelt.table.drills.coach import NOTHING, DrillCoach
from openfelt.table.drills.drill import Drill, drill_hand, read_drill, spot_of
from openfelt.table.drills.drill_store import WINDOW, Answer, DrillStore
from openfelt.table.drills.sampling import Spot, parse_spot, sample_drill
from openfelt.table.drills.schedule import DAY, INTERVALS, LEARNED, MINUTE, due_at, next_box
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.lobby.characters import can_be_drilled
from openfelt.table.lobby.lobby import bots_for
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.review.evaluator import hand_evaluator
from openfelt.table.session.session_store import SessionStore
from openfelt.table.session.table_hand import TableHand

pytestmark = pytest.mark.usefixtures("no_lobby")

SEED = f"{1:064x}"
KUHN = Drill("kuhn", ("you", "random"), 0, SEED, "", ())


@pytest.fixture(scope="module")
def pool():
    return BotPool()


@pytest.fixture(scope="module")
def coach(pool):
    return DrillCoach(pool)


@pytest.fixture
def decks(tmp_path):
    with SessionStore(tmp_path / "table.db") as store:
        yield DrillStore(store)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with thread_server(tmp_path_factory.mktemp("drills") / "table.db") as found:
        yield found


def post(server, path, **body):
    status, _, answer = server.ask("POST", path, json.dumps(body).encode())
    return status, json.loads(answer)


# Spaced repetition


def test_a_decision_comes_back_at_growing_intervals():
    assert list(INTERVALS.values()) == [10 * MINUTE, DAY, 3 * DAY, 7 * DAY, 21 * DAY]
    box, now, waits = 1, 1e9, []
    while (due := due_at(box, now)) is not None:
        waits.append(due - now)
        box = next_box(box, True)
    assert waits == list(INTERVALS.values())
    assert box == LEARNED
    assert [next_box(each, False) for each in (*INTERVALS, LEARNED)] == [1] * 6


def test_what_was_missed_is_due_again_and_what_was_right_is_not(decks):
    deck, now = decks.begin(0.0), 1000.0
    other = Drill("kuhn", ("random", "you"), 1, SEED, "", ("bet",))
    assert decks.answer(deck, other, Answer(True, 0.0), now) is None
    assert decks.answer(deck, KUHN, Answer(False, 0.5), now) == 1
    assert decks.due(deck, now + 10 * MINUTE - 1) is None
    now += 10 * MINUTE
    assert decks.due(deck, now) == KUHN
    for box in (2, 3, 4, 5):
        assert decks.answer(deck, KUHN, Answer(True, 0.0), now) == box
        assert decks.due(deck, now + INTERVALS[box] - 1) is None
        now += INTERVALS[box]
        assert decks.due(deck, now) == KUHN
    assert decks.answer(deck, KUHN, Answer(True, 0.0), now) == LEARNED
    assert decks.due(deck, now + 1000 * DAY) is None
    assert decks.summary(deck, now)["learned"] == 1


def test_a_card_that_cannot_be_shown_waits_a_day_and_the_next_one_comes(decks):
    """As if its bot were not offered any more."""
    deck = decks.begin(0.0)
    first, second = (Drill("kuhn", ("you", "random"), 0, SEED, "", (), link) for link in "ab")
    decks.add_mistakes(deck, "a", [(first, 0.3), (second, 0.2)])
    assert decks.worst_mistake(deck) == first
    decks.postpone(deck, first, 5.0)
    assert decks.worst_mistake(deck) == second
    assert decks.due(deck, 5.0 + DAY - 1) is None
    assert decks.due(deck, 5.0 + DAY) == first
    decks.add_mistakes(deck, "a", [(first, 0.3)])  # found again by another search
    assert decks.worst_mistake(deck) == second


def test_own_mistakes_come_worst_first_and_only_once(decks):
    deck = decks.begin(0.0)
    cards = [Drill("kuhn", ("you", "random"), 0, SEED, "", (), link) for link in "abc"]
    decks.add_mistakes(deck, "a", [(cards[0], 0.1)])
    decks.add_mistakes(deck, "b", [(cards[1], 0.3), (cards[2], 0.2)])
    assert decks.unreviewed(deck, ["a", "b", "c"]) == ["c"]
    assert decks.due(deck, 1e12) is None  # a mistake is not due before it was drilled
    order = []
    while (drill := decks.worst_mistake(deck)) is not None:
        order.append(drill.link)
        decks.answer(deck, drill, Answer(drill.link != "b", 0.0), 5.0)
    assert order == ["b", "c", "a"]
    assert decks.summary(deck, 5.0)["boxes"] == [
        1,
        2,
        0,
        0,
        0,
    ]  # missed again, and right at the second attempt


def test_decks_are_apart_and_stay_after_a_restart(tmp_path):
    path = tmp_path / "table.db"
    with SessionStore(path) as store:
        decks = DrillStore(store)
        one, two = decks.begin(0.0), decks.begin(0.0)
        decks.answer(one, KUHN, Answer(False, 0.25), 10.0)
    with SessionStore(path) as store:
        decks = DrillStore(store)
        assert decks.due(one, 1e6) == KUHN
        assert decks.due(two, 1e6) is None
        assert decks.summary(one, 10.0)["games"] == [{"game": "kuhn", "answers": 1, "right": 0, "lost": 0.25}]
        assert decks.summary(two, 10.0)["answers"] == 0
        with pytest.raises(MissingError, match="do not exist"):
            decks.summary("none", 0.0)


def test_the_score_over_time_is_the_share_of_the_last_answers(decks):
    deck, dice = decks.begin(0.0), random.Random(1)
    right = [dice.random() < 0.6 for _ in range(50)]
    for each in right:
        decks.answer(deck, KUHN, Answer(each, 0.0), 1.0)
    summary = decks.summary(deck, 1.0)
    assert [count for count, _ in summary["chart"]] == list(range(1, 51))
    for count, share in summary["chart"]:
        assert share == pytest.approx(np.mean(right[max(0, count - WINDOW) : count]))
    assert (summary["answers"], summary["right"]) == (50, sum(right))
    streak = next(place for place, each in enumerate([*reversed(right), False]) if not each)
    assert summary["streak"] == streak


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"game": 1}', KUHN.as_json().replace('"seat": 0', '"seat": "0"')]
)
def test_a_stored_drill_that_was_changed_is_told(decks, text):
    with pytest.raises(FeltError, match="cannot be read"):
        read_drill(text)
    deck = decks.begin(0.0)
    decks.answer(deck, KUHN, Answer(False, 0.0), 0.0)
    decks._store.change(("UPDATE drill_cards SET drill = ?", (text,)))
    with pytest.raises(FileError, match="is damaged"):
        decks.due(deck, 1e6)


@pytest.mark.parametrize(
    "change", [{"seat": 5}, {"actions": ("bet",)}, {"names": ("you",)}, {"game": "chess"}]
)
def test_a_stored_drill_that_is_no_decision_is_refused(coach, change):
    with pytest.raises(FeltError):
        coach.show(Drill(**{**KUHN.__dict__, **change}))


# What is asked


@pytest.mark.parametrize(
    ("name", "bot"),
    [("kuhn", "random"), ("leduc", "random"), slow("holdem", "always-call")],
)
def test_drills_are_decisions_in_the_wanted_spot(pool, name, bot):
    game, dice = load_game(name), random.Random(2)
    presentation = presentation_of(game)
    for _ in range(6):
        street, seat = dice.choice(presentation.streets), dice.randrange(2)
        spot = Spot(street, presentation.position(seat))
        drill = sample_drill(game, bot, spot, pool.get)
        live = drill_hand(drill, pool.get)
        assert (drill.seat, live.hand.mover) == (seat, seat)
        assert drill.names[seat] == "you"
        assert spot_of(live, len(live.hand.steps))[0] == street
    wanted = parse_spot(game, {"situation": "facing a bet", "initiative": "nobody"})
    live = drill_hand(sample_drill(game, "random", wanted, pool.get), pool.get)
    assert spot_of(live, len(live.hand.steps))[1:] == ("facing a bet", "nobody")


def test_the_initiative_is_with_whoever_raised_last_on_an_earlier_street(pool):
    drill = Drill(
        "holdem", ("you", "random"), 0, SEED, "", ("raise", "call")
    )  # the button raises, seat 0 calls
    live = drill_hand(drill, pool.get)
    assert spot_of(live, len(live.hand.steps)) == ("flop", "no bet", "the bot")
    raised = Drill("holdem", ("you", "random"), 0, SEED, "", ("raise", "raise", "call"))
    live = drill_hand(raised, pool.get)
    assert spot_of(live, len(live.hand.steps)) == ("flop", "no bet", "you")
    first = Drill("holdem", ("random", "you"), 1, SEED, "", ())
    live = drill_hand(first, pool.get)
    assert spot_of(live, len(live.hand.steps)) == ("preflop", "no bet", "nobody")


def test_a_spot_that_does_not_occur_is_told(pool, monkeypatch):
    monkeypatch.setattr("openfelt.table.drills.sampling.PATIENCE", 0.05)
    with pytest.raises(FeltError, match="choose a wider one"):
        sample_drill(load_game("kuhn"), "always-call", Spot(situation="facing a bet"), pool.get)
    for fields in ({"street": "flop"}, {"position": "the button"}, {"situation": 1}, {"initiative": ["you"]}):
        with pytest.raises(FeltError, match="must be one of"):
            parse_spot(load_game("kuhn"), fields)


@pytest.mark.slow
def test_only_bots_are_offered_whose_decisions_are_judged_at_once(pool):
    for choice in bots_for(load_game("holdem")):
        bot = pool.get(choice.name, load_game("holdem"))
        assert choice.drills == can_be_drilled(choice.name) == (bot.plays_in_kernels and not bot.learns)
    with pytest.raises(FeltError, match="policy or a rule"):
        sample_drill(load_game("holdem"), "poki-like", Spot(), pool.get)


# How it is judged


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_answers_are_judged_exactly(coach, pool, name):
    """The losses are those of the whole game against the bot, computed at once."""
    game = load_game(name)
    tree = compile_game(game)
    uniform = np.concatenate(
        [np.full(len(tree.actions(row)), 1 / len(tree.actions(row))) for row in range(tree.num_rows)]
    )
    values = [action_values(tree, uniform, seat) for seat in range(2)]
    for _ in range(15):
        drill = sample_drill(game, "random", Spot(), pool.get)
        live, node = drill_hand(drill, pool.get), 0
        for step in live.hand.steps:
            node = int(tree.nodes.first_child[node]) + step.number
        worth = values[drill.seat][tree.slots(int(tree.nodes.row[node]))]
        for number, word in enumerate(live.hand.actions):
            answer, verdict = coach.judge(drill, word)
            assert answer.loss == pytest.approx(worth.max() - worth[number], abs=1e-9)
            assert verdict["right"] == answer.is_right == (worth[number] >= worth.max() - NOTHING)
            assert verdict["losses"]["exact"]
            assert verdict["review"]["steps"][0]["chosen"] == number
    with pytest.raises(FeltError, match="must be one of"):
        coach.judge(drill, "dance")


@pytest.mark.slow
def test_a_decision_of_holdem_is_judged_as_in_the_review_of_its_hand(coach, pool):
    game = load_game("holdem")
    live = TableHand(game, {1: pool.get("always-call", game)}, 0, SEED, "")
    live.advance()
    while not live.over:
        live.act(live.hand.actions[-1])
    reviewed = hand_evaluator(live.hand, 0, live.bots).ev_losses()
    for decision in reviewed.decisions:
        taken = live.hand.steps[: decision.step]
        actions = tuple(step.action for step in taken if step.mover >= 0)
        drill = Drill("holdem", ("you", "always-call"), 0, SEED, "", actions)
        (found,) = coach.evaluate(drill).decisions
        assert found == decision
        answer, verdict = coach.judge(drill, live.hand.steps[decision.step].action)
        chosen = live.hand.steps[decision.step].number
        assert answer.is_right == (decision.losses[chosen] <= decision.intervals[chosen] + NOTHING)
        assert verdict["close"] == (answer.is_right and decision.losses[chosen] > 0)


# At the server


def test_own_mistakes_are_found_drilled_and_repeated(server):
    """Of a person that plays at random against an equilibrium: every drill is a mistake of its own."""
    key = server.begin("kuhn", "always-call")
    with Window(server, key) as window:
        dice = random.Random(3)
        for _ in range(12):
            window.deal()
            window.play_on(dice)
    deck = post(server, "/api/drills")[1]["deck"]
    asked, links = 0, {hand["link"] for hand in server.get(f"/api/sessions/{key}/hands")[1]["hands"]}
    while True:
        found = post(server, f"/api/drills/{deck}/next", kind="mistakes", sessions=[key, "none"])[1]
        if found["drill"] is None:
            assert found["left"] == 0
            break
        assert found["link"] in links
        record = server.get(f"/api/hands/{found['link']}")[1]
        done = next(step for step in record["steps"][len(found["account"]) - 1 :] if step["mover"] >= 0)
        status, verdict = post(
            server, f"/api/drills/{deck}/answer", drill=found["drill"], action=done["word"]
        )
        assert status == 200
        assert not verdict["right"]  # the same action again
        assert verdict["box"] == 1
        asked += 1
    assert asked > 0
    summary = server.get(f"/api/drills/{deck}")[1]
    assert (summary["answers"], summary["right"], summary["boxes"][0]) == (asked, 0, asked)
    assert post(server, f"/api/drills/{deck}/next", kind="repeat")[1] == {"drill": None}  # not due yet


@pytest.mark.parametrize(("game", "bot"), [slow("holdem", "random"), ("leduc", "random"), ("kuhn", "random")])
def test_no_hidden_card_is_sent_with_a_drill_or_its_verdict(server, monkeypatch, game, bot):
    seeds: list[str] = []

    def draw():
        seeds.append(f"{len(seeds) + 7:064x}")
        return seeds[-1]

    monkeypatch.setattr("openfelt.table.drills.sampling.new_seed", draw)
    deck = post(server, "/api/drills")[1]["deck"]
    body = json.dumps({"kind": "random", "game": game, "bot": bot}).encode()
    for _ in range(3):
        shown = server.ask("POST", f"/api/drills/{deck}/next", body)[2].decode()
        drill = json.loads(shown)
        answer = {"drill": drill["drill"], "action": drill["actions"][0]["word"]}
        verdict = server.ask("POST", f"/api/drills/{deck}/answer", json.dumps(answer).encode())[2].decode()
        cards, size = plain_shuffle(plain_deck(game), seeds[-1], ""), 2 if game == "holdem" else 1
        seat = drill["seat"]
        assert drill["seats"][seat]["cards"] == cards[size * seat : size * (seat + 1)]
        assert drill["seats"][1 - seat]["cards"] == ["??"] * size
        assert seeds[-1] not in shown + verdict
        if game == "holdem":
            board = cards[4 : 4 + len(drill["board"])]
            assert drill["board"] == board
            hidden = [card for card in cards if card not in (*board, *drill["seats"][seat]["cards"])]
            for card in hidden:
                for text in (
                    f'"{card}"',
                    card[0] + SIGNS[card[1]],
                    json.dumps(card[0] + SIGNS[card[1]])[1:-1],
                ):
                    assert text not in shown
                    assert text not in verdict


def test_requests_that_are_refused_change_nothing(server):
    deck = post(server, "/api/drills")[1]["deck"]
    kuhn = {"kind": "random", "game": "kuhn", "bot": "random"}
    drill = post(server, f"/api/drills/{deck}/next", **kuhn)[1]
    word = drill["actions"][0]["word"]
    for body, status in (
        ({"drill": "none", "action": word}, 400),
        ({"drill": drill["drill"], "action": "dance"}, 400),
        ({"drill": drill["drill"], "action": [word]}, 400),
        ({"drill": drill["drill"]}, 400),
        ({}, 400),
    ):
        found = post(server, f"/api/drills/{deck}/answer", **body)
        assert found[0] == status
        assert found[1]["error"].endswith(".")
    other = post(server, "/api/drills")[1]["deck"]
    assert post(server, f"/api/drills/{other}/answer", drill=drill["drill"], action=word)[0] == 400
    assert server.get(f"/api/drills/{deck}")[1]["answers"] == 0
    assert post(server, f"/api/drills/{deck}/answer", drill=drill["drill"], action=word)[0] == 200
    assert post(server, f"/api/drills/{deck}/answer", drill=drill["drill"], action=word)[0] == 400
    assert server.get(f"/api/drills/{deck}")[1]["answers"] == 1  # an answer counts once
    for body in (
        {},
        {"kind": "all"},
        {"kind": "random"},
        {**kuhn, "bot": "none"},
        {**kuhn, "bot": ["random"]},
        {**kuhn, "game": "../x"},
        {**kuhn, "game": "kuhn(players=3)"},
        {**kuhn, "kind": "spot", "street": "flop"},
        {"kind": "mistakes"},
        {"kind": "mistakes", "sessions": ["x"] * 51},
        {"kind": "mistakes", "sessions": [1]},
    ):
        status, found = post(server, f"/api/drills/{deck}/next", **body)
        assert status == 400, body
        assert found["error"].endswith((".", "?"))
    for path in ("/api/drills/none/next", "/api/drills/%00/next"):
        assert post(server, path, **kuhn)[0] == 404
        assert post(server, path, kind="repeat")[0] == 404
