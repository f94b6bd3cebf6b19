"""A second player of the competition's protocol, written from its text alone, without openfelt.

    python minimal_client.py HOST PORT [call|random] [SEED]

plays limit hold'em (two hole cards) or Kuhn poker (one) until the dealer closes the connection, then prints
how many hands it saw the end of.
"""

import socket
import sys

RAISES = {2: [3, 4, 4, 4], 1: [1]}  # at most, by hole cards and round


def who_acts(betting, players, hole_cards):
    """(position to act or None, whether it faces a bet, whether it may raise, positions that folded)."""
    rounds = betting.split("/")
    first = {(2, 2): 1, (3, 2): 2}.get((players, hole_cards), 0)
    blinds = {(2, 2): [2, 1], (3, 2): [1, 2, 0]}.get((players, hole_cards), [0] * players)
    folded = set()
    for number, actions in enumerate(rounds):
        level = list(blinds) if number == 0 else [0] * players
        start = first if number == 0 else 0
        at = next((start + k) % players for k in range(players) if (start + k) % players not in folded)
        to_act = players - len(folded)
        raises = 0
        for letter in actions:
            to_act -= 1
            if letter == "f":
                folded.add(at)
            else:
                level[at] = max(level)
            if letter == "r":
                level[at] += 2
                raises += 1
                to_act = players - len(folded) - 1
            if len(folded) < players:
                at = next(
                    (at + k) % players for k in range(1, players + 1) if (at + k) % players not in folded
                )
        if len(folded) == players - 1:
            return None, False, False, folded
    if to_act == 0:
        return None, False, False, folded
    return at, level[at] < max(level), raises < RAISES[hole_cards][len(rounds) - 1], folded


def parse(line):
    """(position, hand, betting, hole cards by position, board)."""
    name, position, hand, betting, cards = line.split(":")
    assert name == "MATCHSTATE"
    hole, *board = cards.split("/")
    return int(position), int(hand), betting, hole.split("|"), board


class Random:
    """Numbers of its own: the generator of the C standard's example."""

    def __init__(self, seed):
        self.state = seed

    def below(self, count):
        self.state = (self.state * 1103515245 + 12345) % 2**31
        return (self.state >> 16) % count


def play(host, port, style="call", seed=1):
    """Play a match; returns the hands that were seen to their end, and all lines."""
    dice, ended, heard = Random(seed), set(), []
    with socket.create_connection((host, port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(b"VERSION:2.0.0\r\n")
        for raw in connection.makefile("rb"):
            line = raw.decode("ascii")
            assert line.endswith("\r\n")
            line = line[:-2]
            if line[:1] in ("#", ";"):
                continue
            heard.append(line)
            position, hand, betting, hole, _ = parse(line)
            turn, facing, may_raise, _ = who_acts(betting, len(hole), len(hole[position]) // 2)
            if turn is None:
                ended.add(hand)
            elif turn == position:
                choices = "c" + "f" * facing + "r" * may_raise
                letter = choices[dice.below(len(choices))] if style == "random" else "c"
                connection.sendall(f"{line}:{letter}\r\n".encode("ascii"))
    return len(ended), heard


if __name__ == "__main__":
    host, port, *more = sys.argv[1:]
    print(play(host, int(port), *more[:1], *map(int, more[1:]))[0])
