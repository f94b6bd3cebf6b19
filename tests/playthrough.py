"""Playthroughs of a game as text: legal actions, actions taken, what each player has observed."""

from __future__ import annotations

import random
from pathlib import Path

from openfelt.games.compile.compiler import compile_any
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.registry import load_game

PLAYTHROUGHS = {
    "kuhn": "kuhn.txt",
    "kuhn(players=3)": "kuhn-3-players.txt",
    "one_card(10)": "one_card.txt",
    "leduc": "leduc.txt",
    "leduc(players=3)": "leduc-3-players.txt",
    "holdem": "holdem.txt",
    "holdem(players=3,buckets='ehs:2')": "holdem-3-players.txt",
    "flop_holdem": "flop_holdem.txt",
    "goofspiel(4)": "goofspiel.txt",
    "bluff(1,1,6)": "bluff.txt",
    "princess_monster(3,3,5)": "princess_monster.txt",
    "phantom_ttt(2,2,2)": "phantom_ttt.txt",
    "dark_hex(2,abrupt=True)": "dark_hex.txt",
    "oshi_zumo(4,1)": "oshi_zumo.txt",
    "battleship(1,3,2,2)": "battleship.txt",
    "sheriff(rounds=2)": "sheriff.txt",
}
MANY = 20


def playthrough(name: str) -> str:
    """Three random plays, drawn by Python's own generator, which does not change."""
    game, tree, draw = load_game(name), compile_any(name), random.Random(name)
    enumerated = isinstance(tree, GameTree)
    lines = [
        f"game: {game.name}",
        f"players: {game.players}",
        f"payoffs in: {game.unit}",
        f"rows: {tree.num_rows}",
        f"nodes: {tree.num_nodes}",
    ]
    for number in (1, 2, 3):
        lines += ["", f"play {number}"]
        state, node = game.start(), 0
        knows = [[] for _ in range(game.players)]
        while (mover := game.turn(state)) != TERMINAL:
            actions = list(game.actions(state))
            if mover == CHANCE and len(actions) > MANY:
                lines.append(f"  chance: {len(actions)} ways, all alike")
            elif mover == CHANCE:
                chances = ", ".join(f"{a} {p:.6g}" for a, p in zip(actions, game.chance(state), strict=True))
                lines.append(f"  chance: {chances}")
            elif enumerated:
                lines.append(
                    f"  player {mover} ('{tree.row_name(int(tree.nodes.row[node]))}'): {', '.join(actions)}"
                )
            else:
                pot, potential = game.stakes(state)
                lines.append(f"  player {mover} (pot {pot}, and {potential} to come): {', '.join(actions)}")
            place = draw.randrange(len(actions))
            for player in range(game.players):
                if seen := game.sees(state, actions[place], player):
                    knows[player].append(seen)
            state = game.play(state, actions[place])
            node = int(tree.nodes.first_child[node]) + place if enumerated else node
            lines.append(f"    -> {actions[place]}")
        for player in range(game.players):
            lines.append(f"  player {player} saw: {' '.join(knows[player])}")
        lines.append(f"  payoffs: {', '.join(f'{value:+g}' for value in game.payoffs(state))}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for name, file in PLAYTHROUGHS.items():
        (Path(__file__).parent / "playthroughs" / file).write_text(playthrough(name))
