"""The engine of the table: fair dealing, hands, sessions and their file, what is shown and said of them."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sqlite3
import subprocess
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import phevaluator
import pokerkit
import pytest
import scipy.stats
from speed import fast_only, slow
from table_player import (
    HIDDEN,
    fair_cards,
    new_nonce,
    plain_commitment,
    plain_deck,
    plain_shuffle,
    secrets_of,
)

import openfelt as felt
from openfelt.bots.bot import Bot
from openfelt.core.errors import FeltError, FileError
from openfelt.games.game import CHANCE
from openfelt.games.hand import Hand, Thought
from openfelt.hands.check import check_record
from openfelt.hands.phh import UNITS
from openfelt.hands.store import HandStore
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.lobby.lobby import TABLE_GAMES, bots_for, table_bot, table_game
from openfelt.table.presentation.holdem import poker_hand_name
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.presentation.text import card_sign
from openfelt.table.review.evaluator import hand_evaluator
from openfelt.table.session import fair_dealing as fair
from openfelt.table.session.export import session_lines, session_phh
from openfelt.table.session.fair_dealing import commitment, require_nonce, shuffled
from openfelt.table.session.hand_log import result_lines
from openfelt.table.session.manager import SessionManager
from openfelt.table.session.score import MOST_POINTS, Score
from openfelt.table.session.session import BUY_IN, Session
from openfelt.table.session.session_store import SessionStore
from openfelt.table.session.table_hand import TableHand
from openfelt.table.session.visibility import session_state
from openfelt.table.web.app import STATIC

SITTINGS = [
    ("kuhn", ["equilibrium"]),
    ("kuhn(players=3)", ["random", "always-raise"]),
    ("leduc", ["equilibrium"]),
    ("leduc(players=3)", ["random", "random"]),
    ("holdem", ["random"]),
    ("holdem", ["default"]),
    ("holdem(players=3)", ["random", "chen"]),
]
OF_A_KIND = ("sparbot-like", "fellomen-like", "smooth-uct", "uct")  # play by tables, as others do
QUICK = [
    ("kuhn", ["random"]),
    ("leduc", ["random"]),
    ("holdem", ["random"]),
    ("holdem(players=3)", ["random"] * 2),
]
GAMES = [
    "kuhn",
    "kuhn(players=3)",
    "leduc",
    "leduc(players=3)",
    "leduc(ranks=4)",
    "holdem",
    "holdem(players=3)",
]


@pytest.fixture
def tables(tmp_path):
    found = SessionManager(SessionStore(tmp_path / "table.db"), BotPool())
    yield found
    found.close()


def somehow(state: dict, dice: random.Random) -> str:
    """Any action; folding is rare."""
    words = [action["word"] for action in state["hand"]["actions"]]
    return dice.choice(words[1:] if words[0] == "fold" and dice.random() < 0.8 else words)


def play_hand(tables: SessionManager, key: str, dice: random.Random, nonce: str | None = None) -> list[dict]:
    """One hand; all states from the deal to the end."""
    number = tables.state(key)["next"]["number"]
    states = [tables.deal(key, number, nonce or f"{dice.getrandbits(128):032x}")]
    while not states[-1]["hand"]["over"]:
        hand = states[-1]["hand"]
        states.append(tables.act(key, number, hand["step"], somehow(states[-1], dice)))
    return states


# Fair dealing


def seeds(count: int, start: int = 0) -> list[tuple[str, str]]:
    """Seeds and nonces, the same each time."""
    texts = [hashlib.sha512(b"%d" % (start + number)).hexdigest() for number in range(count)]
    return [(text[:64], text[64:96]) for text in texts]


@pytest.mark.parametrize("name", GAMES)
def test_the_shuffle_is_that_of_the_documentation(name):
    assert presentation_of(table_game(name)).deck == plain_deck(name)
    for seed, nonce in seeds(200):
        assert shuffled(plain_deck(name), seed, nonce) == plain_shuffle(plain_deck(name), seed, nonce)
        assert commitment(seed) == plain_commitment(seed)


def test_words_of_the_incomplete_last_round_are_passed_over():
    """2^32 leaves 1 by 3 and 48 by 52."""
    assert fair._below(3, iter([2**32 - 1, 2**32 - 2, 7])) == (2**32 - 2) % 3
    assert fair._below(52, iter([2**32 - 1, 2**32 - 48, 2**32 - 49])) == 51
    assert fair._below(4, iter([2**32 - 1])) == 3


@pytest.mark.parametrize(("cards", "count"), [("JQK", 6_000), ("ABCDEF", 36_000)])
def test_all_orders_are_equally_likely(cards, count):
    found = Counter("".join(shuffled(cards, seed, nonce)) for seed, nonce in seeds(count))
    orders = np.prod(range(1, len(cards) + 1))
    assert len(found) == orders
    assert 1e-4 < scipy.stats.chisquare(list(found.values())).pvalue < 1 - 1e-4


def test_the_nonce_matters_and_seeds_are_not_guessed():
    seed = fair.new_seed()
    decks = {tuple(shuffled(plain_deck("holdem"), seed, new_nonce())) for _ in range(50)}
    assert len(decks) == 50
    assert len({fair.new_seed() for _ in range(50)}) == 50
    assert len(seed) == 64


@pytest.mark.parametrize(
    "nonce", ["", "0" * 31, "0" * 33, "G" * 32, "A" * 32, "0" * 32 + "\n", 7, None, ["0"] * 32]
)
def test_a_bad_nonce_is_refused(nonce):
    with pytest.raises(FeltError, match=r"^A nonce has 32 hex digits in lower case\.$"):
        require_nonce(nonce)


VECTORS = {  # FIPS 180-2, appendix B, and NIST's examples
    "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": (
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    "a" * 1_000_000: "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
}
SCRIPT = """
import { readFileSync } from "node:fs";
import * as fair from "./verify.mjs";
const { texts, cases, hands } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify({
  hashes: texts.map((text) => fair.sha256(new TextEncoder().encode(text))),
  decks: cases.map(([game, players, seed, nonce]) => fair.shuffled(fair.deckOf(game, players), seed, nonce)),
  commitments: cases.map(([, , seed]) => fair.commitmentOf(seed)),
  nonces: cases.map(() => fair.drawNonce()),
  faults: hands.map((hand) => fair.verify(hand)),
}));
"""


def by_node(folder: Path, **given: object) -> dict:
    """What the browser's code says."""
    shutil.copy(STATIC / "verify.js", folder / "verify.mjs")
    (folder / "script.mjs").write_text(SCRIPT)
    asked = json.dumps({"texts": [], "cases": [], "hands": []} | given)
    done = subprocess.run(
        ["node", "script.mjs"], cwd=folder, input=asked, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(not shutil.which("node"), reason="node is not here")
def test_the_browser_shuffles_alike(tmp_path):
    lengths = ["x" * length for length in (*range(50, 70), 119, 120, 128)]
    names = [*GAMES, "leduc(players=3,ranks=4)", "leduc(ranks=6)", "kuhn(pot=8)"]
    cases = [
        (name, table_game(name).players, *each)
        for place, name in enumerate(names)
        for each in seeds(60, 99 * place)
    ]
    said = by_node(tmp_path, texts=[*VECTORS, *lengths], cases=cases)
    assert said["hashes"] == [
        *VECTORS.values(),
        *(hashlib.sha256(text.encode()).hexdigest() for text in lengths),
    ]
    for (name, _, seed, nonce), deck, reported in zip(cases, said["decks"], said["commitments"], strict=True):
        assert deck == shuffled(presentation_of(table_game(name)).deck, seed, nonce)
        assert reported == commitment(seed)
    assert all(require_nonce(nonce) for nonce in said["nonces"])
    assert len(set(said["nonces"])) == len(cases)


def in_capitals(fine: dict) -> dict:
    """The same bytes, so the same commitment, but another deck: the server could choose among many."""
    seed = next(text for text in map(str.upper, [fine["seed"], "ab" * 32]) if text != text.lower())
    game, players = fine["game"], len(fine["hands"])
    deck, hole = plain_shuffle(plain_deck(game), seed, fine["nonce"]), len(fine["hands"][0])
    hands = [deck[hole * seat : hole * (seat + 1)] for seat in range(players)]
    board = deck[hole * players :][: len(fine["board"])]
    return {**fine, "seed": seed, "commitment": plain_commitment(seed), "hands": hands, "board": board}


def uncounted(fine: dict) -> list[dict]:
    """Hands in which no card is wrong, but something is missing or not as it must be written."""
    last, players = fine["hands"][-1], len(fine["hands"])
    fouls = [
        {"seed": None},
        {"seed": fine["seed"] + "00"},
        {"seed": fine["seed"] + "\n"},
        {"seed": [fine["seed"]]},
        {"nonce": None},
        {"nonce": "G" * 32},
        {"commitment": None},
        {"commitment": fine["commitment"].upper() + "A"},
        {"seat": (fine["seat"] + 1) % players},
        {"number": fine["number"] + 1},
        {"number": str(fine["number"])},
        {"hands": [*fine["hands"][:-1], [HIDDEN] * len(last)]},
        {"hands": [*fine["hands"][:-1], []]},
        {"hands": [*fine["hands"][:-1], [*last, *last]]},
        {"hands": fine["hands"][:-1]},
    ]
    if fine["board"]:
        fouls.append({"board": [], "folded": [False] * players})
    return [{**fine, **foul} for foul in fouls]


@pytest.mark.skipif(not shutil.which("node"), reason="node is not here")
@pytest.mark.slow
def test_the_browser_finds_every_foul(tables, tmp_path):
    asked, dice = [], random.Random(3)
    for name, bots in QUICK:
        key = tables.begin(name, bots)
        for _ in range(10):
            promised = tables.state(key)["next"]["commitment"]
            hand = play_hand(tables, key, dice)[-1]["hand"]
            fine = {
                **{"game": name, "seed": hand["seed"], "nonce": hand["nonce"], "commitment": promised},
                **{"hands": [seat["cards"] for seat in hand["seats"]], "board": hand["board"]},
                **{"number": hand["number"], "seat": hand["seat"]},
                **{"folded": [seat["folded"] for seat in hand["seats"]]},
            }
            swapped = [[*fine["hands"][1]], [*fine["hands"][0]], *fine["hands"][2:]]
            asked.append((fine, True))
            asked.append(({**fine, "seed": fair.new_seed()}, False))
            asked.append(({**fine, "nonce": new_nonce()}, False))
            asked.append(({**fine, "commitment": commitment(fair.new_seed())}, False))
            asked.append(({**fine, "hands": swapped}, fine["hands"] == swapped))
            asked.extend((foul, False) for foul in uncounted(fine))
            asked.append((in_capitals(fine), False))
            if hand["board"]:
                asked.append(({**fine, "board": ["X", *hand["board"][1:]]}, False))
    faults = by_node(tmp_path, hands=[hand for hand, _ in asked])["faults"]
    for (hand, is_fair), found in zip(asked, faults, strict=True):
        if not is_fair and not found:
            # Another nonce may by chance deal the same few cards.
            seats = [{"cards": cards} for cards in hand["hands"]]
            assert fair_cards(hand["game"], seats, hand["board"], hand["seed"], hand["nonce"])
            assert hand["game"] in ("kuhn", "leduc")
        else:
            assert (not found) == is_fair


# Hands


@pytest.mark.parametrize(("name", "bots"), [*SITTINGS[:5], *(slow(*each) for each in SITTINGS[5:])])
def test_cards_are_the_shuffles_and_records_pass_the_rules(name, bots, tables):
    key, dice, hands = tables.begin(name, bots), random.Random(5), 25
    ends = []
    for number in range(1, hands + 1):
        promised = tables.state(key)["next"]["commitment"]
        states = play_hand(tables, key, dice)
        hand = states[-1]["hand"]
        assert fair_cards(name, hand["seats"], hand["board"], hand["seed"], hand["nonce"])
        assert {promised, plain_commitment(hand["seed"])} == {state["hand"]["commitment"] for state in states}
        assert hand["number"] == number
        assert hand["seat"] == (number - 1) % len(hand["seats"])
        assert [seat["you"] for seat in hand["seats"]].index(True) == hand["seat"]
        ends.append(hand)
    records = [json.loads(line) for line in session_lines(tables._store, key).splitlines()]
    assert len(records) == hands
    for hand, record, row in zip(ends, records, tables._store.records(key), strict=True):
        assert check_record(row) is None
        assert [seat["won"] for seat in hand["seats"]] == record["won"] == list(row.won)
        assert sum(record["won"]) == 0
        shown = [card for seat in hand["seats"] for card in seat["cards"]] + hand["board"]
        assert shown == record["dealt"]
        assert len(record["actions"]) == hand["step"]
        assert record["names"][hand["seat"]] == "you"
        assert record["names"][(hand["seat"] + 1) % len(record["names"])] == bots[0]
    state = tables.state(key)
    mine = [hand["won"] for hand in ends]
    assert (state["score"]["hands"], state["score"]["won"]) == (hands, sum(mine))
    assert [point[1] for point in state["score"]["chart"]] == [0.0, *np.cumsum(mine)]
    assert [hand["won"] for hand in tables.hands(key, 1 << 60)["hands"]] == mine[::-1]


@pytest.mark.parametrize(("name", "bots"), [sitting for sitting in SITTINGS if "holdem" in sitting[0]])
def test_pokerkit_reads_the_downloads_with_the_same_winnings(name, bots, tables):
    key, dice = tables.begin(name, bots), random.Random(6)
    hands = [play_hand(tables, key, dice)[-1]["hand"] for _ in range(20)]
    histories = list(pokerkit.HandHistory.loads_all(session_phh(tables._store, key)))
    assert len(histories) == len(hands)
    singles = [pokerkit.HandHistory.loads(tables.phh(hand["link"])) for hand in hands]
    unit = UNITS[len(hands[0]["seats"])]
    for hand, *pair in zip(hands, histories, singles, strict=True):
        for history in pair:
            *_, (state, _) = history.state_actions
            assert not state.status
            assert [Decimal(str(seat["won"])) * unit for seat in hand["seats"]] == list(state.payoffs)
            assert (history.hand, history.players[hand["seat"]]) == (hand["number"], "you")
            cards = [[repr(card) for card in cards] for cards in state.hole_cards if cards]
            assert all(found in [seat["cards"] for seat in hand["seats"]] for found in cards)


@pytest.mark.parametrize("name", ["holdem", "holdem(players=3)"])
def test_chips_and_labels_are_pokerkits(name, tables):
    """Bets, stacks, pot and the amounts on the buttons, wherever the person is to act."""
    players, dice, seen = table_game(name).players, random.Random(7), Counter()
    key = tables.begin(name, ["random"] * (players - 1))
    for number in range(1, 26):
        state = tables.deal(key, number, f"{dice.getrandbits(128):032x}")
        stacks = [seat["stack"] + seat["paid"] for seat in state["hand"]["seats"]]
        words = []
        while not state["hand"]["over"]:
            hand, live = state["hand"], tables._session(key).live
            words = list(live.actions)
            twin = by_pokerkit(players, stacks, words)
            assert list(twin.bets) == [seat["bet"] for seat in hand["seats"]]
            assert list(map(float, twin.stacks)) == pytest.approx([seat["stack"] for seat in hand["seats"]])
            assert twin.total_pot_amount == hand["pot"]
            assert twin.actor_index == hand["seat"] == [seat["turn"] for seat in hand["seats"]].index(True)
            assert [not on for on in twin.statuses] == [seat["folded"] for seat in hand["seats"]]
            assert ("preflop", "flop", "turn", "river")[twin.street_index] == hand["street"]
            assert len(hand["board"]) == (0, 3, 4, 5)[twin.street_index]
            call, lift = twin.checking_or_calling_amount, twin.min_completion_betting_or_raising_to_amount
            opened = max(twin.bets) > 0
            says = {
                **{"fold": "Fold", "check": "Check", "call": f"Call {call}"},
                **{"bet": f"Bet {lift}", "raise": f"Raise to {lift}"},
            }
            assert [action["label"] for action in hand["actions"]] == [
                says[action["word"]] for action in hand["actions"]
            ]
            assert ("check" if call == 0 else "call") in [action["word"] for action in hand["actions"]]
            assert ("bet" if opened else "raise") not in [action["word"] for action in hand["actions"]]
            seen.update(action["word"] for action in hand["actions"])
            state = tables.act(key, number, hand["step"], somehow(state, dice))
    assert set(seen) == {"fold", "check", "call", "bet", "raise"}


def by_pokerkit(players: int, stacks: list[float], words: list[str]) -> pokerkit.State:
    """The same betting; cards come as they come."""
    state = pokerkit.FixedLimitTexasHoldem.create_state(
        tuple(pokerkit.Automation), True, 0, (1, 2), 2, 4, tuple(map(Fraction, stacks)), players
    )
    for word in words:
        {"fold": state.fold, "check": state.check_or_call, "call": state.check_or_call}.get(
            word, state.complete_bet_or_raise_to
        )()
    return state


@pytest.mark.parametrize(("name", "bots"), SITTINGS)
def test_no_chip_is_lost_and_labels_say_what_is_paid(name, bots, tables):
    key, dice, stacks = tables.begin(name, bots), random.Random(8), None
    for _ in range(25):
        states = play_hand(tables, key, dice)
        hand = states[-1]["hand"]
        begun = [seat["stack"] - seat["won"] for seat in hand["seats"]]
        for state in states[:-1]:
            seats = state["hand"]["seats"]
            assert [seat["stack"] + seat["paid"] for seat in seats] == begun
            assert state["hand"]["pot"] == sum(seat["paid"] for seat in seats)
            assert [seat["name"] for seat in seats if seat["turn"]] == ["you"]
            assert state["next"] is None
        assert sum(seat["won"] for seat in hand["seats"]) == 0
        for before, after in pairwise(states):
            pay_by_label(before["hand"], after["hand"])
        # Who sits where goes round; chips stay with their owners, who buy in again when they run short.
        owners = [(hand["seat"] + place) % len(begun) for place in range(len(begun))]
        if stacks is not None:
            bought = [begun[seat] - then for seat, then in zip(owners, stacks, strict=True)]
            assert set(bought) <= {0, tables._session(key).stacks._buy_in}
        stacks = [hand["seats"][seat]["stack"] for seat in owners]


def pay_by_label(before: dict, after: dict) -> None:
    """What the person paid is what stood on one of the buttons."""
    me = before["seat"]
    paid = after["seats"][me]["paid"] - before["seats"][me]["paid"]
    amounts = set()
    for action in before["actions"]:
        verb, _, rest = action["label"].rpartition(" ")
        if action["label"] in ("Fold", "Check"):
            amounts.add(0.0)
        elif verb == "Call":
            amounts.add(float(rest))
        else:
            assert verb in ("Bet", "Raise to")
            amounts.add(float(rest) - before["seats"][me]["bet"])
    assert paid in amounts
    assert len({action["key"] for action in before["actions"]}) == len(before["actions"])


def test_who_has_too_little_for_a_hand_buys_in_again(tables):
    """A person who always folds loses the ante or a bet each time, until the stack is below 13 chips."""
    key = tables.begin("leduc", ["always-raise"])
    mine = most = 1 + 2 * 2 + 2 * 4
    mine, bought = BUY_IN * most, 0
    for number in range(1, 200):
        state = tables.deal(key, number, new_nonce())
        while not state["hand"]["over"]:
            hand = state["hand"]
            state = tables.act(key, number, hand["step"], hand["actions"][0]["word"])
        if mine < most:
            mine, bought = mine + BUY_IN * most, bought + 1
        mine += state["hand"]["won"]
        assert state["hand"]["seats"][state["hand"]["seat"]]["stack"] == mine
    assert bought


def played(hand):
    """The steps, without the visits and values of searches, which a replay does not repeat."""
    return [
        replace(step, thought=None) if step.thought and step.thought.visits else step
        for step in hand.hand.steps
    ]


@pytest.mark.usefixtures("strengths")
@pytest.mark.parametrize("name", fast_only(("kuhn",), TABLE_GAMES))
def test_the_same_seed_and_actions_give_the_same_hand(name):
    """Whatever the bots played before, and whether it is the first time or the replay."""
    game = table_game(name)
    for bot in [choice.name for choice in bots_for(game) if choice.name not in OF_A_KIND]:
        worn, fresh = table_bot(bot, game), table_bot(bot, game)
        for number, (seed, nonce) in enumerate(seeds(4, 1_000)):
            seat, dice = number % game.players, random.Random(number)
            first = TableHand(
                game, {each: worn for each in range(game.players) if each != seat}, seat, seed, nonce
            )
            first.advance()
            while not first.over:
                first.act(dice.choice(first.hand.actions))
            words = iter([step.action for step in first.hand.steps if step.mover == seat])
            others = {each: fresh for each in range(game.players) if each != seat}
            second = TableHand(game, others, seat, seed, nonce)
            second.advance()
            for word in words:
                second.act(word)
            third = TableHand(game, others, seat, seed, nonce)
            third.replay(first.actions)
            assert played(first) == played(second) == played(third)
            assert first.hand.payoffs == second.hand.payoffs
            assert first.faults == []


class Broken(Bot):
    """Does everything wrong that a bot can do."""

    def __init__(self, game, how):
        super().__init__(game)
        self.how = how

    def act(self, view, dice, clock):
        if self.how == "fails":
            raise KeyError("As")
        return {"nothing": None, "list": ["call"], "array": np.array(["call", "fold"]), "number": 1}.get(
            self.how, view.actions[-1]
        )

    def think(self, view):
        shares = {"few": (1.0,), "many": (0.1,) * 9, "text": "abc", "none": None, "nan": (float("nan"),) * 2}
        if self.how == "thinks badly":
            raise ValueError
        return Thought("", shares[self.how]) if self.how in shares else None

    def end_hand(self, view, won):
        if self.how == "ends badly":
            raise RuntimeError


HOWS = ["fails", "nothing", "list", "array", "number", "few", "many", "text", "none", "nan"]


@pytest.mark.parametrize("how", [*HOWS, "thinks badly", "ends badly"])
@pytest.mark.parametrize("name", ["kuhn", "leduc", "holdem", "holdem(players=3)"])
def test_a_broken_bot_checks_or_folds_and_the_hand_ends(name, how, tmp_path):
    store, dice = SessionStore(tmp_path / "table.db"), random.Random(2)
    row = store.begin(name, ["mine"] * (table_game(name).players - 1), fair.new_seed())
    tables = SessionManager(store, BotPool())
    tables._bots.get = lambda _, game: Broken(game, how)
    for _ in range(3):
        hand = play_hand(tables, row.id, dice)[-1]["hand"]
        assert tables.review(hand["link"])["won"] == tuple(seat["won"] for seat in hand["seats"])
    assert all(check_record(record) is None for record in store.records(row.id))
    json.dumps(tables.state(row.id), allow_nan=False)
    if how in ("fails", "nothing"):
        assert {word for record in store.records(row.id) for word in record.actions} & {"fold", "pass"}
        assert any("it checked or folded" in line for line in hand["account"]) or hand["step"] == 1
    tables.close()


# What is hidden stays hidden


def twins(name: str, dice: random.Random, seat: int) -> tuple[list[str], list[str]]:
    """Two decks that look alike to a seat until the hand is over: the others' cards differ."""
    game, deck = table_game(name), plain_deck(name)
    hole = 2 if name.startswith("holdem") else 1
    while True:
        dice.shuffle(deck)
        other = list(deck)
        hidden = [place for place in range(hole * game.players) if place // hole != seat]
        hidden += list(
            range(hole * game.players + (0, 1, 5)[("kuhn", "leduc", "holdem").index(game.key)], len(deck))
        )
        mixed = [deck[place] for place in hidden]
        dice.shuffle(mixed)
        for place, card in zip(hidden, mixed, strict=True):
            other[place] = card
        if other[: hole * game.players] != deck[: hole * game.players]:
            return deck, other


@pytest.mark.parametrize("bot", [slow("always-call"), slow("always-raise"), "random"])
@pytest.mark.parametrize("name", list(TABLE_GAMES))
def test_hidden_cards_change_nothing_that_is_sent(name, bot, tmp_path, monkeypatch):
    """Two tables whose decks differ in hidden cards alone send the same, byte for byte, until the end."""
    game, dice = table_game(name), random.Random(11)
    monkeypatch.setattr("openfelt.table.session.session.new_seed", lambda: "5" * 64)
    monkeypatch.setattr("openfelt.table.session.session.secrets.token_urlsafe", lambda _: f"{dice.random()}")
    decks = []
    monkeypatch.setattr("openfelt.table.session.table_hand.shuffled", lambda *_: decks[-1])
    compared = differed = 0
    for number in range(2 * game.players):
        seat, words = number % game.players, random.Random(number)
        stores = [SessionStore(tmp_path / f"{number}-{each}.db") for each in range(2)]
        rows = [store.begin(name, [bot] * (game.players - 1), "5" * 64) for store in stores]
        pair = [Session(store, row, BotPool().get) for store, row in zip(stores, rows, strict=True)]
        for hand in range(1, seat + 2):  # those before the last are the same, to get to the seat
            same = plain_shuffle(plain_deck(name), "", f"{number} {hand}")
            for session, deck in zip(
                pair, twins(name, dice, seat) if hand > seat else (same, same), strict=True
            ):
                decks.append(deck)
                session.deal(hand, f"{number:032x}")
            while pair[0].hand_is_on:
                reported = [shown(session) for session in pair]
                assert reported[0] == reported[1]
                compared += hand > seat
                word = somehow(json.loads(reported[0]), words)
                for session in pair:
                    session.act(hand, len(session.live.actions), word)
        differed += shown(pair[0]) != shown(pair[1])  # now all is open
        for store in stores:
            store.close()
    assert compared > 2
    assert differed == 2 * game.players


def shown(session: Session) -> str:
    return json.dumps({**session_state(session, chart=True), "score": None})


@pytest.mark.parametrize(("name", "bots"), SITTINGS)
def test_only_ones_own_cards_are_shown_while_a_hand_is_on(name, bots, tables):
    key, dice = tables.begin(name, bots), random.Random(12)
    for _ in range(15):
        states = play_hand(tables, key, dice)
        secret = secrets_of(states[-1])
        for state in states[:-1]:
            hand, text = state["hand"], json.dumps(state, ensure_ascii=False)
            assert not [word for word in secret if word in text]
            for seat in hand["seats"]:
                assert (HIDDEN in seat["cards"]) != seat["you"]
                assert seat["won"] is None
            mine = hand["seats"][hand["seat"]]["cards"]
            cards = {card_sign(card) for card in (*mine, *hand["board"])}
            reported = {
                word.strip(".")
                for line in hand["account"]
                if ":" in line
                for word in line.split(": ")[1].split()
            }
            assert reported <= cards
            assert (hand["seed"], hand["link"], hand["won"], hand["over"]) == (None, None, None, False)


# Refusals change nothing


STRANGE = [None, 0, -1, 7, 1.0, 0.0, True, False, "1", "", [], {}, float("nan"), 1e300, 10**400]


class Refusing:
    """A session of which nothing may change."""

    def __init__(self, tables: SessionManager, key: str) -> None:
        self.tables, self.key, self.before = tables, key, tables.state(key)

    def deal(self, number: object, nonce: object) -> None:
        with pytest.raises(FeltError) as caught:
            self.tables.deal(self.key, number, nonce)
        self._check(caught.value)

    def act(self, number: object, step: object, word: object) -> None:
        with pytest.raises(FeltError) as caught:
            self.tables.act(self.key, number, step, word)
        self._check(caught.value)

    def _check(self, error: FeltError) -> None:
        assert "\n" not in str(error)
        assert self.tables.state(self.key) == self.before

    def check_the_file(self) -> None:
        """A session that is read anew says the same."""
        store = self.tables._store
        kept = session_state(Session(store, store.session(self.key), BotPool().get), chart=True)
        assert [kept[kind] for kind in ("score", "next")] == [self.before[kind] for kind in ("score", "next")]
        assert kept["hand"] in (None, self.before["hand"])


@pytest.mark.parametrize(("name", "bots"), QUICK)
def test_what_is_refused_changes_nothing(name, bots, tables):
    key, dice = tables.begin(name, bots), random.Random(13)
    fixed = Refusing(tables, key)
    for number in [value for value in STRANGE if type(value) is not int or value != 1]:
        fixed.deal(number, "0" * 32)
    for nonce in ("", "0" * 31, "g" * 32, None, 5, ["0" * 32]):
        fixed.deal(1, nonce)
    fixed.act(1, 0, "check")
    for number in range(1, 9):
        state = tables.deal(key, number, f"{dice.getrandbits(128):032x}")
        while not state["hand"]["over"]:
            fixed, step = Refusing(tables, key), state["hand"]["step"]
            words = [action["word"] for action in state["hand"]["actions"]]
            for value in STRANGE:
                if type(value) is not int or value != number:
                    fixed.act(value, step, words[0])
                if type(value) is not int or value != step:
                    fixed.act(number, value, words[0])
                fixed.act(number, step, value)
            for word in {"fold", "check", "call", "bet", "raise", "pass", "Call", "J", "Ah"} - set(words):
                fixed.act(number, step, word)
            fixed.deal(number, "0" * 32)
            fixed.deal(number + 1, "0" * 32)
            fixed.check_the_file()
            state = tables.act(key, number, step, somehow(state, dice))
            Refusing(tables, key).act(number, step, words[0])
    assert tables.state(key)["score"]["hands"] == 8


@pytest.mark.parametrize("kind", [FileError, RuntimeError])
@pytest.mark.parametrize("at", ["begin_hand", "act", "finish"])
def test_what_could_not_be_kept_did_not_happen(kind, at, tables, monkeypatch):
    key, dice = tables.begin("leduc", ["always-call"]), random.Random(14)
    play_hand(tables, key, dice)
    if at != "begin_hand":
        tables.deal(key, 2, "1" * 32)

    def fails(*_, **__):
        raise kind("the disk is full")

    before = tables.state(key)
    with monkeypatch.context() as broken:
        broken.setattr(tables._store, at, fails)
        with pytest.raises(kind):
            tables.deal(key, 2, "1" * 32) if at == "begin_hand" else play_on(tables, key, dice)
    after = tables.state(key)
    if at == "act":  # the step before it
        assert after["hand"]["step"] == before["hand"]["step"]
        assert after["hand"]["seats"] == before["hand"]["seats"]
    if at == "begin_hand":
        assert after["next"] == before["next"]
        tables.deal(key, 2, "1" * 32)
    if at != "finish":
        play_on(tables, key, dice)
    assert tables.state(key)["score"]["hands"] == 2
    assert [check_record(record) for record in tables._store.records(key)] == [None, None]


def play_on(tables: SessionManager, key: str, dice: random.Random) -> None:
    while not (state := tables.state(key))["hand"]["over"]:
        hand = state["hand"]
        tables.act(key, hand["number"], hand["step"], somehow(state, dice))


# Sessions go on


@pytest.mark.parametrize(("name", "bots"), QUICK)
def test_a_hand_goes_on_after_a_restart_at_any_step(name, bots, tmp_path):
    """Read anew after every step, a session says the same as one that was never closed."""
    path, dice = tmp_path / "table.db", random.Random(15)
    tables, restarts = SessionManager(SessionStore(path), BotPool()), 0
    key = tables.begin(name, bots)
    for _ in range(10):
        promised = tables.state(key)["next"]["commitment"]
        state = tables.deal(key, tables.state(key)["next"]["number"], f"{dice.getrandbits(128):032x}")
        while not state["hand"]["over"]:
            shutil.copy(path, tmp_path / "copy.db")
            shutil.copy(f"{path}-wal", tmp_path / "copy.db-wal")
            again = SessionManager(SessionStore(tmp_path / "copy.db"), BotPool())
            other = again.state(key)
            assert (
                other["notice"]
                == f"The server was restarted; hand {state['hand']['number']} continues where it was."
            )
            assert (other["hand"], other["next"]) == (state["hand"], None)
            assert other["score"]["won"] == state["score"]["won"]
            word = somehow(state, dice)
            after = again.act(key, state["hand"]["number"], state["hand"]["step"], word)
            state = tables.act(key, state["hand"]["number"], state["hand"]["step"], word)
            ends = [{**each["hand"], "link": None} for each in (after, state)]
            assert ends[0] == ends[1]
            again.close()
            restarts += 1
        assert plain_commitment(state["hand"]["seed"]) == promised
    assert restarts > 5
    tables.close()
    again = SessionManager(SessionStore(path), BotPool())
    assert again.state(key)["score"] == tables_score(tables, key)
    assert again.state(key)["next"] == state["next"]
    assert again.state(key)["notice"] is None
    again.close()


def tables_score(tables: SessionManager, key: str) -> dict:
    return session_state(tables._sessions[key], chart=True)["score"]


TAMPERED = [
    ("actions", "dance"),
    ("actions", "call call call call call call call call call call"),
    ("actions", "check raise"),
    ("seed", "no hex"),
    ("nonce", ""),
    ("nonce", "0" * 32),
    ("seat", 9),
]
NO_TYPE = [
    *(
        ("actions", None),
        ("actions", b"\xff"),
        ("seed", None),
        ("seat", "left"),
        ("seat", None),
    ),
    *(("won", None), ("won", "much"), ("luck_free", "no"), ("hand", "x"), ("status", None), ("link", None)),
]


@pytest.mark.parametrize(("column", "value"), TAMPERED)
def test_a_hand_that_cannot_be_made_again_is_returned(column, value, tmp_path):
    path, dice = tmp_path / "table.db", random.Random(16)
    key, ends, hand = left_in_mid_hand(path, dice)
    number, won = hand["number"], sum(ends)
    change(path, f"UPDATE table_hands SET {column} = ? WHERE status = 0", value)
    again = SessionManager(SessionStore(path), BotPool())
    state = again.state(key)
    assert state["notice"].endswith(f"hand {number} could not be restored; it does not count.")
    assert state["hand"] is None
    assert state["next"]["number"] == number + 1
    assert state["next"]["commitment"] != hand["commitment"]  # that seed is spent
    assert (state["score"]["hands"], state["score"]["won"]) == (number - 1, won)
    listed = again.hands(key, 1 << 60)["hands"]
    assert (listed[0]["returned"], listed[0]["link"], listed[0]["won"]) == (True, None, 0)
    assert not any(hand["returned"] for hand in listed[1:])
    after = play_hand(again, key, dice)[-1]
    assert after["notice"] is None
    assert after["score"]["hands"] == number
    assert len(session_lines(again._store, key).splitlines()) == number
    again.close()


def left_in_mid_hand(path: Path, dice: random.Random) -> tuple[str, list[float], dict]:
    """A session, what was won in its hands, and the one that is on."""
    tables = SessionManager(SessionStore(path), BotPool())
    key = tables.begin("leduc", ["random"])
    ends = [play_hand(tables, key, dice)[-1]["hand"]["won"] for _ in range(5)]
    while found := tables.state(key)["next"]:
        hand = tables.deal(key, found["number"], f"{dice.getrandbits(128):032x}")["hand"]
        ends += [hand["won"]] * hand["over"]
    tables.close()
    return key, ends, hand


@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize(("column", "value"), NO_TYPE)
def test_rows_that_cannot_have_been_written_so_are_reported(column, value, status, tmp_path):
    path = tmp_path / "table.db"
    key, _, _ = left_in_mid_hand(path, random.Random(24))
    change(path, f"UPDATE table_hands SET {column} = ? WHERE status = {status} AND number > 2", value)
    tables = SessionManager(SessionStore(path), BotPool())
    with pytest.raises(FileError, match="is damaged"):
        tables.state(key)
    tables.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("won", 99.0), ("seat", 7), ("hand", 1), ("hand", 77), ("number", 400)),
        *(("luck_free", 99.0), ("seed", "0" * 64), ("nonce", "0" * 32), ("session", "other"), ("status", 0)),
    ],
)
def test_winnings_that_are_not_those_of_the_hand_are_reported(column, value, tmp_path):
    path = tmp_path / "table.db"
    key, _, _ = left_in_mid_hand(path, random.Random(24))
    change(path, f"UPDATE table_hands SET {column} = ? WHERE number = 3", value)
    tables = SessionManager(SessionStore(path), BotPool())
    with pytest.raises(FileError, match="is damaged"):
        tables.state(key)
    tables.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sessions SET seed = substr(seed, 2) || substr(seed, 1, 1)",
        "UPDATE sessions SET bots = '[\"always-call\"]'",
        "UPDATE sessions SET begun = begun + 1",
        "DELETE FROM sessions",
        "DELETE FROM table_hands WHERE number = 2",
        "DELETE FROM table_hands WHERE status = 0",
        "DELETE FROM row_seals WHERE number = 0",
        "DELETE FROM row_seals WHERE number = 3",
    ],
)
def test_rows_that_were_changed_or_removed_are_told(statement, tmp_path):
    path = tmp_path / "table.db"
    key, _, _ = left_in_mid_hand(path, random.Random(24))
    change(path, statement)
    tables = SessionManager(SessionStore(path), BotPool())
    with pytest.raises(FileError, match="is damaged"):
        tables.state(key)
    tables.close()


def test_a_file_without_checksums_of_rows_gets_them(tmp_path):
    path = tmp_path / "table.db"
    key, _, hand = left_in_mid_hand(path, random.Random(24))
    change(path, "DROP TABLE row_seals")
    change(path, "UPDATE table_version SET version = 1")
    with SessionStore(path) as store:
        assert [row.intact for row in store.table_hands(key)] == [True] * hand["number"]
    change(path, "UPDATE table_hands SET luck_free = 3 WHERE number = 2")
    with SessionStore(path) as store, pytest.raises(FileError, match="was changed"):
        store.table_hands(key)


def test_sessions_that_were_long_unused_are_forgotten_but_not_lost(tables, monkeypatch):
    monkeypatch.setattr("openfelt.table.session.manager.CACHED_SESSIONS", 3)
    keys, dice = [tables.begin("kuhn", ["random"]) for _ in range(8)], random.Random(17)
    while tables.state(keys[0])["next"]:
        tables.deal(keys[0], tables.state(keys[0])["next"]["number"], f"{dice.getrandbits(128):032x}")
    won = {key: play_hand(tables, key, dice)[-1]["score"]["won"] for key in keys[1:]}
    assert len(tables._sessions) <= 4
    assert keys[0] in tables._sessions  # a hand is on there
    assert tables.state(keys[0])["notice"] is None
    assert {key: tables.state(key)["score"]["won"] for key in keys[1:]} == won


def test_pages_of_hands(tables):
    key, dice = tables.begin("kuhn", ["random"]), random.Random(18)
    ends = [play_hand(tables, key, dice)[-1]["hand"] for _ in range(120)]
    while tables.state(key)["next"]:
        state = tables.deal(key, tables.state(key)["next"]["number"], f"{dice.getrandbits(128):032x}")
        ends += [state["hand"]] * state["hand"]["over"]
    pages, before = [], 1 << 60
    while not pages or pages[-1]["more"]:
        pages.append(tables.hands(key, before))
        before = pages[-1]["hands"][-1]["number"]
    listed = [hand for page in pages for hand in page["hands"]]
    assert [len(page["hands"]) for page in pages[:2]] == [50, 50]
    assert [hand["link"] for hand in listed] == [hand["link"] for hand in reversed(ends)]
    for hand, end in zip(listed, reversed(ends), strict=True):
        assert hand["cards"] == tuple(end["seats"][end["seat"]]["cards"])
        assert hand["won"] == end["won"]
        assert len(hand["line"].split()) == end["step"]


def test_the_review_shows_the_hand_as_it_was(tables):
    for name, bots in QUICK:
        key, dice = tables.begin(name, bots), random.Random(19)
        for _ in range(8):
            states = play_hand(tables, key, dice)
            end, found = states[-1]["hand"], tables.review(states[-1]["hand"]["link"])
            assert list(found["won"]) == [seat["won"] for seat in end["seats"]]
            assert (found["seed"], found["nonce"], found["commitment"]) == (
                *(end["seed"], end["nonce"]),
                end["commitment"],
            )
            assert found["account"] == end["account"]
            assert [step["word"] for step in found["steps"] if step["mover"] == end["seat"]] == [
                next(action["word"] for action in step["actions"] if action["word"] == step["word"])
                for step in found["steps"]
                if step["mover"] == end["seat"]
            ]
            mine = [place for place, step in enumerate(found["steps"]) if step["mover"] == end["seat"]]
            for place, state in zip(mine, states, strict=False):
                before = found["steps"][place - 1]["table"]  # as it was when the person was to act
                for kind in ("board", "pot", "street", "board_size"):
                    assert before[kind] == state["hand"][kind]
                assert found["steps"][place]["actions"] == state["hand"]["actions"]
                for now, then in zip(before["seats"], state["hand"]["seats"], strict=True):
                    assert (now["bet"], now["paid"], now["folded"]) == (
                        then["bet"],
                        then["paid"],
                        then["folded"],
                    )
                    assert now["shown"] == (HIDDEN not in then["cards"])
            assert len(mine) == len(states) - 1


# The file


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def filled(path: Path) -> str:
    """A file with some sessions; the first one's id."""
    tables, dice = SessionManager(SessionStore(path), BotPool()), random.Random(20)
    keys = [tables.begin("leduc", ["random"]), tables.begin("holdem", ["random"])]
    for key in keys:
        for _ in range(40):
            play_hand(tables, key, dice)
    tables.close()
    return keys[0]


def change(path: Path, statement: str, *values: object) -> None:
    base = sqlite3.connect(path)
    base.execute(statement, values)
    base.commit()
    base.close()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("PRAGMA user_version = 2", r"was written by a newer OpenFelt \(format 2"),
        ("UPDATE table_version SET version = 3", r"was written by a newer OpenFelt \(sessions 3"),
        ("PRAGMA application_id = 7", "is a database of another program"),
        ("UPDATE table_version SET version = 'x'", "damaged"),
        ("UPDATE table_version SET version = NULL", "damaged"),
    ],
)
def test_files_of_others_and_of_newer_versions_are_left_alone(statement, says, mode, tmp_path):
    path = tmp_path / "table.db"
    filled(path)
    change(path, statement)
    change(path, f"PRAGMA journal_mode = {mode}")
    before = bytes_of(tmp_path)
    with pytest.raises(FileError, match=says) as caught:
        SessionStore(path)
    assert "\n" not in str(caught.value)
    assert bytes_of(tmp_path) == before


def test_a_file_of_hands_alone_becomes_one_of_sessions_too(tmp_path):
    path = tmp_path / "hands.db"
    HandStore(path).close()
    key = filled(path)
    with HandStore(path) as store:
        assert store.count() == 80
        assert sum(1 for _ in store.hands(match=key)) == 40


def test_damage_is_reported_in_one_sentence_and_never_hides_a_wrong_hand(tmp_path):
    """Bytes overwritten anywhere: a FeltError, or all that is reported is unchanged."""
    path = tmp_path / "whole.db"
    filled(path)
    change(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    whole, dice = path.read_bytes(), random.Random(21)
    truth, reported, fine = reported_by(path), list[str](), 0
    for number in range(90):
        broken, data = tmp_path / f"{number}.db", bytearray(whole)
        place = dice.randrange(len(data))
        if number % 3 == 0:
            data = data[:place]
        else:
            size = dice.choice([1, 16, 200, 4096])
            data[place : place + size] = dice.randbytes(len(data[place : place + size]))
        broken.write_bytes(data)
        try:
            said = reported_by(broken)
        except FeltError as error:
            reported.append(str(error))
            continue
        finally:
            broken.unlink()
        for key, facts in truth.items():
            if isinstance(said.get(key), list):
                assert facts[: len(said[key])] == said[key]
                fine += 1
            else:
                reported.append(said.get(key) or "")
    assert not [sentence for sentence in reported if "\n" in sentence]
    assert len(reported) > 30
    assert fine > 20


def reported_by(path: Path) -> dict:
    """The records of all sessions of a file, or the sentence instead of them."""
    tables, found = SessionManager(SessionStore(path), BotPool()), {}
    try:
        keys = [key for (key,) in tables._store._base.execute("SELECT id FROM sessions")]
        for key in keys:
            try:
                tables.state(key)
                lines = session_lines(tables._store, key).splitlines()
                found[key] = [json.loads(line)["won"] for line in lines]
                tables.hands(key, 1 << 60)
            except FeltError as error:
                found[key] = str(error)
    except sqlite3.Error as error:
        raise FileError(str(error)) from None
    finally:
        tables.close()
    return found


# Score and words


def test_the_rate_and_its_interval_are_scipys():
    dice = np.random.default_rng(1)
    for unit, scale in ((2, 500.0), (None, 1.0)):
        score, amounts = Score(unit), dice.normal(1, 5, 200)
        assert score.summary()["rate"] is None
        for number, amount in enumerate(amounts, 1):
            score.add(amount, amount / 2)
            said = score.summary()
            assert (said["hands"], said["rate_unit"]) == (number, "mbb/h" if unit else "chips a hand")
            assert said["won"] == pytest.approx(amounts[:number].sum())
            assert said["rate"] == pytest.approx(scale * amounts[:number].mean())
            if number == 1:
                assert said["interval"] is None
                continue
            low, high = scipy.stats.ttest_1samp(scale * amounts[:number], 0).confidence_interval(0.95)
            assert said["interval"] == pytest.approx((high - low) / 2, rel=1e-6)
            assert said["luck_free"]["interval"] == pytest.approx((high - low) / 4, rel=1e-6)
            assert said["luck_free"]["won"] == pytest.approx(said["won"] / 2)


def test_luck_is_shown_only_while_it_is_known_for_all_hands():
    score = Score(None)
    score.add(1, 0.5)
    assert score.is_adjusted
    score.add(1, None)
    score.add(1, 0.5)
    assert not score.is_adjusted
    assert score.summary()["luck_free"] is None
    assert score.chart() == [[0, 0, None], [1, 1, None], [2, 2, None], [3, 3, None]]


@pytest.mark.parametrize("hands", [0, 1, 2, 399, 400, 401, 5_000])
def test_the_chart_is_thinned_out_evenly(hands):
    score, sums = Score(2), np.cumsum([0, *range(hands)])
    for number in range(hands):
        score.add(number, -number)
    chart = score.chart()
    assert len(chart) == min(hands + 1, MOST_POINTS)
    assert [chart[0][0], chart[-1][0]] == [0, hands]
    assert all((won, free) == (sums[place], -sums[place]) for place, won, free in chart)
    gaps = np.diff([point[0] for point in chart])
    assert hands == 0 or gaps.max() - gaps.min() <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bots", "hands"),
    [
        ("kuhn", ["random"], 3_000),
        ("leduc", ["random"], 1_500),
        slow("leduc(players=3)", ["random", "always-call"], 600),
        ("holdem", ["random"], 400),
        slow("holdem(players=3)", ["always-call", "random"], 80),
    ],
)
def test_without_luck_one_wins_the_same_in_the_mean(name, bots, hands):
    game, dice = table_game(name), random.Random(22)
    made = [table_bot(bot, game) for bot in bots]
    won, free = [], []
    for number, (seed, nonce) in enumerate(seeds(hands, 5_000)):
        seat = number % game.players
        seated = {(seat + 1 + place) % game.players: bot for place, bot in enumerate(made)}
        live = TableHand(game, seated, seat, seed, nonce)
        live.advance()
        while not live.over:
            words = live.hand.actions
            live.act(dice.choice(words[1:] if words[0] == "fold" else words))
        won.append(live.hand.payoffs[seat])
        free.append(hand_evaluator(live.hand, seat, seated).luck_adjusted())
    luck = np.array(won) - free
    assert abs(luck.mean()) < 4 * luck.std() / np.sqrt(hands)
    assert np.std(free) < 0.95 * np.std(won)


CATEGORIES = [  # the ranks of phevaluator, and what the names begin with
    *(
        (10, "a"),
        (166, "four "),
        (322, "a full house"),
        (1599, "a flush"),
        (1609, "a"),
    ),
    *((2467, "three "), (3325, "two pair"), (6185, "a pair of"), (7462, "")),
]


def test_hands_are_called_what_phevaluator_ranks_them():
    dice, deck, met = random.Random(23), plain_deck("holdem"), Counter()
    for number in range(8_000):
        rank = dice.choice("23456789TJQKA")
        some = deck if number % 4 else [card for card in deck if card[1] in "sh" or card[0] == rank][:28]
        cards = dice.sample(some, 7)
        says = next(start for last, start in CATEGORIES if phevaluator.evaluate_cards(*cards) <= last)
        name = poker_hand_name("".join(cards))
        assert name.startswith(says)
        assert bool(says) != name.endswith(" high") or says == "a flush"
        if says == "a":
            says = name.split("-high ")[-1]
            assert says in ("straight", "straight flush", "a royal flush")
        met[says] += 1
    assert len(met) >= len(CATEGORIES)


@pytest.mark.parametrize(
    ("cards", "says"),
    [
        ("KcKd4h4s2c2d9h", "two pair, kings and fours"),
        ("AcAd7h5s3c9dJh", "a pair of aces"),
        ("6c6d6hKs2c9dJh", "three sixes"),
        ("6c6d6hKsKcKdJh", "a full house, kings over sixes"),
        ("6c6d6h6sKcKdKh", "four sixes"),
        ("Ac2d3h4s5c9dKh", "a five-high straight"),
        ("AcKdQhJsTc9d2h", "an ace-high straight"),
        ("Ah2h3h4h5h9dKc", "a five-high straight flush"),
        ("AhKhQhJhTh9d2c", "a royal flush"),
        ("AhJh9h6h3h2hKc", "a flush, ace high"),
        ("QcJd9h7s5c3d2h", "queen high"),
    ],
)
def test_names_of_hands(cards, says):
    assert poker_hand_name(cards) == says


def test_the_account_of_a_hand_by_hand(tables, monkeypatch):
    """Kuhn poker against one who always raises, line by line."""
    monkeypatch.setattr("openfelt.table.session.table_hand.shuffled", lambda *_: list("QKJ"))
    key = tables.begin("kuhn", ["always-raise"])
    state = tables.deal(key, 1, "0" * 32)
    assert [action["label"] for action in state["hand"]["actions"]] == ["Check", "Bet 1"]
    state = tables.act(key, 1, 0, "pass")
    assert [action["label"] for action in state["hand"]["actions"]] == ["Fold", "Call 1"]
    assert state["hand"]["account"] == [
        "Hand 1. Everyone antes 1 chip. You act first.",
        "Your card: Q.",
        "You check.",
        "The Maniac bets 1.",
    ]
    state = tables.act(key, 1, 2, "bet")
    assert state["hand"]["account"][4:] == [
        *(
            "You call 1.",
            "The Maniac shows K.",
            "You show Q.",
            "The Maniac wins the pot (4).",
            "You lose 2 chips.",
        )
    ]


HOLDEM_SHOWDOWNS = [  # the cards of seat 0 (the big blind), seat 1 and the board; the line; the words
    (
        *("9h9d", "AhKd", "2c7dJhAs4c"),
        "call check check check check check bet call",
        ("You show 9♥ 9♦: a pair of nines.", "The Calling Station shows A♥ K♦: a pair of aces."),
        "The Calling Station wins the pot (12) with a pair of aces.",
    ),
    (
        *("AhQd", "AsKc", "2c7dJhAc4c"),
        "call check check check check check check check",
        (
            "You show A♥ Q♦: a pair of aces, queen kicker.",
            "The Calling Station shows A♠ K♣: a pair of aces, king kicker.",
        ),
        "The Calling Station wins the pot (4) with a pair of aces, king kicker.",
    ),
    (
        *("2h3d", "2s3c", "AcKdQhJc9s"),
        "call check check check check check check check",
        ("You show 2♥ 3♦: ace high.", "The Calling Station shows 2♠ 3♣: ace high."),
        "You and The Calling Station split the pot (4) with ace high.",
    ),
    (
        *("2h3d", "2s3c", "4c5d6hJc9s"),
        "call check check check check check check bet call",
        ("The Calling Station shows 2♠ 3♣: a six-high straight.", "You show 2♥ 3♦: a six-high straight."),
        "You and The Calling Station split the pot (12) with a six-high straight.",
    ),
    (
        *("2h3d", "2s3c", "4c5d6hJc9s"),
        "raise fold",
        ("The uncalled bet of 2 is returned to The Calling Station.",),
        "The Calling Station wins the pot (4).",
    ),
]


@pytest.mark.parametrize(("own", "other", "board", "line", "shows", "wins"), HOLDEM_SHOWDOWNS)
def test_the_end_of_a_hand_in_words(own, other, board, line, shows, wins):
    """The last aggressor shows first, kickers are named where they decide, an uncalled bet goes back."""
    hand, cards = (
        Hand(felt.load_game("holdem")),
        iter([(own + other + board)[i : i + 2] for i in range(0, 18, 2)]),
    )
    for word in line.split():
        while hand.mover == CHANCE:
            hand.act(hand.actions.index(next(cards)))
        hand.act(hand.actions.index(word))
    said = result_lines(hand, 0, ("you", "The Calling Station"))
    assert tuple(said[:-2]) == shows
    assert said[-2] == wins


@pytest.mark.parametrize(("name", "bots"), QUICK)
def test_frames_lead_from_state_to_state(name, bots, tables):
    """Each event once; the pot is what was paid until it is settled, and stacks are paid after that."""
    key, dice = tables.begin(name, bots), random.Random(29)
    for _ in range(12):
        before = None
        for state in play_hand(tables, key, dice):
            hand = state["hand"]
            lines = [frame["lines"] for frame in state["frames"]]
            assert lines == sorted(set(lines))
            assert all(line <= len(hand["account"]) for line in lines)
            if before is not None and lines:
                assert lines[0] == len(before["account"]) + 1
            for frame in state["frames"][: -1 if hand["over"] else None]:
                assert frame["pot"] == sum(seat["paid"] for seat in frame["seats"])
                for seat in frame["seats"]:
                    assert seat["you"] or set(seat["cards"]) == {HIDDEN}
                    assert not seat["bet"] or seat["action"] or seat["paid"] == seat["bet"]
            if hand["over"]:
                last = state["frames"][-1]
                won = [
                    now["stack"] - then["stack"]
                    for now, then in zip(hand["seats"], last["seats"], strict=True)
                ]
                assert sum(won) == pytest.approx(last["pot"])
                assert min(won) >= 0
                assert last["pot"] == hand["pot"]
                assert [seat["shown"] for seat in hand["seats"]] == [
                    seat["you"] or set(seat["cards"]) != {HIDDEN} for seat in last["seats"]
                ]
            before = hand


def test_a_session_opens_while_all_cached_ones_are_in_the_middle_of_a_hand(tmp_path, monkeypatch):
    monkeypatch.setattr("openfelt.table.session.manager.CACHED_SESSIONS", 1)
    tables = SessionManager(SessionStore(tmp_path / "table.db"), BotPool())
    for _ in range(3):
        key = tables.begin("kuhn", ["always-call"])
        tables.deal(key, 1, "0" * 32)
    assert tables.state(key)["hand"]["number"] == 1
    tables.close()


def test_hands_in_progress_beyond_the_most_sessions_go_on_when_they_are_asked_for(tables, monkeypatch):
    monkeypatch.setattr("openfelt.table.session.manager.CACHED_SESSIONS", 1)
    monkeypatch.setattr("openfelt.table.session.manager.MOST_SESSIONS", 3)
    dealt = {}
    for _ in range(8):
        key = tables.begin("leduc", ["always-call"])
        dealt[key] = tables.deal(key, 1, "0" * 32)["hand"]
        assert len(tables._sessions) <= 3
    for key, hand in dealt.items():
        state = tables.state(key)
        assert (state["hand"], state["notice"]) == (hand, None)
