"""Playing in the terminal: every game to its end, input is parsed, the bot's cards stay hidden."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest

import openfelt as felt
from openfelt.bots.policy_bot import policy_bot
from openfelt.bots.registry import load_bot
from openfelt.bots.view import view_of
from openfelt.cli.app import main
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.hand import Hand
from openfelt.table.terminal import Terminal, parse_action, watch


def play(name: str, answers: list[str], hands: int = 1, seed: int = 1):
    reported: list[str] = []
    answer = iter(answers)

    def ask(prompt):
        reported.append(prompt)
        try:
            return next(answer)
        except StopIteration:
            raise EOFError from None

    game = felt.load_game(name)
    bots = [policy_bot(felt.uniform_policy(name), game) for _ in range(game.players - 1)]
    terminal = Terminal(game, bots, seed=seed, ask=ask, write=reported.append)
    terminal.play(hands)
    return terminal, reported


@pytest.mark.parametrize(
    "name",
    [
        "kuhn",
        "kuhn(players=3)",
        "leduc",
        "leduc(players=3)",
        "goofspiel(4)",
        "bluff(1,1,3)",
        "princess_monster(2,2,4)",
        "one_card(9)",
    ],
)
def test_every_game_can_be_played(name):
    menus = [
        "check",
        "call",
        "1",
        "c",
        "p",
        "pass",
        "2",
        "3",
        "4",
        "left",
        "right",
        "up",
        "down",
        "1x1",
        "liar",
    ] * 200
    terminal, reported = play(name, menus, hands=4)
    assert len(terminal.winnings) == 4
    assert reported[-1].startswith("You are")


def test_the_opponents_cards_are_shown_only_after_the_hand():
    for seed in range(20):
        _, reported = play("leduc", ["check", "call"] * 9, seed=seed)
        end = next(n for n, line in enumerate(reported) if "the pot (" in line)
        shows = [n for n, line in enumerate(reported) if " shows " in line]
        last = max(n for n, line in enumerate(reported) if "your move" in line)
        assert all(last < n < end for n in shows)
        assert len(shows) == 1 or any("folds" in line for line in reported)
        assert not any("it chose" in line for line in reported[:end])


def test_winnings_are_those_of_the_rules():
    terminal, reported = play("kuhn", ["bet"] * 30, hands=10)
    for won, line in zip(
        terminal.winnings,
        [line for line in reported if re.search("  You (win|lose) [0-9.]+ chip", line)],
        strict=True,
    ):
        assert float(re.search(r"[\d.]+", line)[0]) == abs(won)
    assert set(terminal.winnings) <= {-2.0, -1.0, 1.0, 2.0}
    assert "95% interval" in terminal.score()


def test_the_terminal_uses_the_words_of_the_page():
    """Blinds, amounts, pot, board and showdown."""
    game, reported = felt.load_game("holdem"), list[str]()
    terminal = Terminal(
        game,
        [load_bot("always-call", game)],
        names=["always-call"],
        seed=1,
        ask=lambda prompt: (reported.append(prompt), "c")[1],
        write=reported.append,
    )
    terminal.play(2)
    text = "\n".join(reported)
    assert "Hand 1. The Calling Station has the button. You post the big blind of 2" in text
    assert "Hand 2. You have the button. The Calling Station posts the big blind of 2" in text
    assert re.search(r"Pot 4\. Board: (\S+ ){2}\S+\. You have ", text)
    assert "1) Fold  2) Call 1  3) Raise to 4" in text
    assert text.count(": ") > 4
    assert len(re.findall(r"(win|wins|split) the pot \(4\) with", text)) == 2


def test_goofspiel_tells_each_seat_who_won():
    """Seat 0 bids the 4 for the prize of 4: it cannot be lost."""
    for seed in range(5):
        _, reported = play("goofspiel(4)", ["4"], seed=seed)
        assert any(line in ("  you see: won", "  you see: tied") for line in reported)
        assert not any("player 1: won" in line for line in reported)


def test_quitting_and_nonsense():
    terminal, reported = play("kuhn", ["what", "", "9", "q"])
    assert terminal.winnings == []
    assert sum("is not one of" in line for line in reported) == 3
    assert "No finished hand" in reported[-1]


@pytest.mark.parametrize(
    ("answer", "actions", "meant"),
    [
        ("fold", ("fold", "call", "raise"), 0),
        ("c", ("fold", "call", "raise"), 1),
        ("3", ("fold", "call", "raise"), 2),
        ("0", ("fold", "call"), None),
        ("4", ("fold", "call"), None),
        ("", ("fold",), None),
        ("2", ("2", "3", "4"), 0),
        ("1", ("10", "11"), None),
        ("Q", ("Q", "K"), 0),
        ("q", ("Q", "q"), 1),
        ("R", ("raise", "fold"), 0),
        ("5", ("2", "3", "4"), None),
        ("c", ("call", "check"), None),
        ("RAISE".lower(), ("raise",), 0),
    ],
)
def test_understand(answer, actions, meant):
    assert parse_action(answer, actions) == meant


def test_a_hand_follows_rules_and_tree():
    game, tree = felt.load_game("leduc"), felt.compile_game("leduc")
    policy = felt.random_policy("leduc", 3)
    generator, bot = np.random.default_rng(4), policy_bot(policy, game)
    for _ in range(50):
        hand, node = Hand(game), 0
        with pytest.raises(felt.FeltError):
            _ = hand.payoffs
        while hand.mover != TERMINAL:
            assert hand.mover == tree.nodes.player[node]
            if hand.mover == CHANCE:
                step = hand.act_for_chance(generator)
            else:
                row = int(tree.nodes.row[node])
                assert hand.actions == tree.actions(row)
                assert bot.think(view_of(hand)).probabilities == tuple(policy.row(row))
                seen = [step.seen[hand.mover] for step in hand.steps if step.seen[hand.mover]]
                assert tree.row_name(row) == bot.think(view_of(hand)).infoset == " ".join(seen)
                with pytest.raises(felt.FeltError):
                    hand.act_for_chance(generator)
                step = hand.act(int(generator.integers(len(hand.actions))))
            node = int(tree.nodes.first_child[node]) + step.number
        assert sum(hand.payoffs) == 0


def test_watch():
    lines = watch(felt.load_game("kuhn"), felt.uniform_policy("kuhn"), np.random.default_rng(1))
    assert lines[0].startswith("dealt: ")
    assert "pass 50%, bet 50%" in lines[1]
    assert lines[-1].startswith("result: player 0")


def test_felt_play(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("bet\n" * 5))
    assert main(["play", "--terminal", "kuhn", "--hands", "2", "--seed", "1"]) == 0
    assert "after 2 hands" in capsys.readouterr().out
    assert main(["train", "kuhn", "--iterations", "9", "--out", "run"]) == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("bet\n" * 5))
    capsys.readouterr()
    assert main(["play", "--terminal", "--bot", "run", "--hands", "2", "--json"]) == 0
    captured = capsys.readouterr()
    assert '"hands": 2' in captured.out
    monkeypatch.setattr("sys.stdin", None)
    assert main(["play", "--terminal", "kuhn"]) == 0
    assert "Good game" in capsys.readouterr().out
    assert "your move" in captured.err
    assert main(["play", "--terminal", "leduc", "--bot", "run"]) == 2
    assert "does not match leduc" in capsys.readouterr().err
