"""A second reader of MATCHSTATE lines, from the description of the protocol and the rules of the games."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from openfelt.games.game import CHANCE, TERMINAL, Game

STATE = re.compile(r"MATCHSTATE:([0-9]{1,18}):([0-9]{1,18}):([cfr/]*):([2-9TJQKAcdhs|/]*)")
KUHN_CARDS = {2: {"Qs": "J", "Ks": "Q", "As": "K"}, 3: {"Js": "J", "Qs": "Q", "Ks": "K", "As": "A"}}
CARD = re.compile("[2-9TJQKA][cdhs]")


class ReadState(NamedTuple):
    """What a line says."""

    position: int
    hand: int
    turn: int  # a position, or TERMINAL
    won: float | None  # by the player, at the end


def read_state(game: Game, text: str) -> ReadState | None:
    """The state of a line; None if it is none of the game."""
    found = STATE.fullmatch(text)
    if not found:
        return None
    position, hand, betting, cards = int(found[1]), int(found[2]), found[3], found[4]
    first, *later = cards.split("/")
    hole = [re.findall("..?", own) for own in first.split("|")]
    board = [re.findall("..?", some) for some in later]
    seen = [card for some in (*hole, *board) for card in some]
    if len(hole) != game.players or position >= game.players or not hole[position]:
        return None
    if len(set(seen)) < len(seen) or not all(map(CARD.fullmatch, seen)):
        return None
    return _follow(game, position, hand, betting, hole, board)


def _follow(game: Game, position: int, hand: int, betting: str, hole: Any, board: Any) -> ReadState | None:
    """Play the hand by the rules, with any cards for those that are hidden."""
    names = KUHN_CARDS[game.players] if game.key == "kuhn" else None
    if names is not None and (board or not {card for own in hole for card in own} <= names.keys()):
        return None
    size = 1 if names else 2
    if any(len(own) not in (0, size) for own in hole):
        return None
    ours = [[names[card] if names else card for card in own] for own in hole]
    if [len(some) for some in board] != [3, 1, 1][: len(board)]:
        return None
    queue = [card for own in ours for card in (own or [""] * size)] + [
        card for some in board for card in some
    ]
    known = {card for card in queue if card}
    state, letters, rounds = game.start(), iter(betting), 1
    dealt = 0
    while (turn := game.turn(state)) != TERMINAL:
        if turn == CHANCE:
            if dealt == size * game.players + (0, 3, 4, 5)[rounds - 1]:
                if next(letters, "") != "/":
                    return None
                rounds += 1
                if rounds > len(board) + 1:
                    return None
            card = queue[dealt] or next(each for each in game.actions(state) if each not in known)
            dealt, state = dealt + 1, game.play(state, card)
            continue
        letter = next(letters, "")
        if not letter:
            return ReadState(position, hand, turn, None) if rounds == len(board) + 1 else None
        action = _action(game, state, letter)
        if action is None:
            return None
        state = game.play(state, action)
    if next(letters, "") or dealt != len(queue) or any(not hole[seat] for seat in game.shown(state)):
        return None
    return ReadState(position, hand, TERMINAL, float(game.payoffs(state)[position]))


def _action(game: Game, state: Any, letter: str) -> str | None:
    """The action of a letter; in Kuhn poker `c` passes before a bet, and bets after one."""
    actions, passive = game.actions(state), game.passive(state)
    if letter == "c":
        return passive
    if "pass" in actions:
        faces_bet = passive == "bet"
        return {"f": "pass" if faces_bet else None, "r": None if faces_bet else "bet"}.get(letter)
    words = {"f": ("fold",), "r": ("bet", "raise")}.get(letter, ())
    return next((word for word in words if word in actions), None)
