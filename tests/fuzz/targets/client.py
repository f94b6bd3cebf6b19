"""Match states sent to our client: lines changed, dropped, repeated and exchanged.

`protocol_states.py` reads the same lines by the protocol's description and says what is right.
"""

from __future__ import annotations

from random import Random
from typing import Any

from fuzz.mutations import mutate_any
from fuzz.protocol_states import read_state
from fuzz.target import Finding, Mutant, Target
from openfelt.arena.acpc.client import ProtocolPlayer
from openfelt.arena.acpc.connection_lines import LineReader
from openfelt.arena.acpc.dealer import match_states
from openfelt.arena.acpc.protocol_game import first_line, protocol_game
from openfelt.bots.rule_bot import RuleBot
from openfelt.games.registry import load_game

GAMES = ("holdem", "holdem(players=3)", "kuhn")
HANDS = 6
LONGEST = 4096  # bytes of a line; the client drops longer ones
LETTERS = ("c", "r", "c", "f", "r", "c", "c", "r", "r", "c")  # chosen in turn, where they are legal
WORDS = (b"MATCHSTATE", b":", b"|", b"/", b"r", b"c", b"f", b"r300", b"As", b"2c", b"#", b"0", b"1", b"\r\n")


class ClientTarget(Target):
    """The lines of a match for one player."""

    name = "acpc-client"
    share = 1.5
    cost = 2.0

    def prepare(self) -> None:
        self.games = [load_game(name) for name in GAMES]
        for game in self.games:
            lines = [text for hand in range(HANDS) for text in _states(game, hand)]
            self.add({"lines": "".join(f"{line}\r\n" for line in lines).encode()})

    def mutate(self, random: Random, number: int) -> Mutant:
        data, how = mutate_any(random, self.samples[number]["lines"], WORDS)
        return Mutant({"lines": data}, how, number)

    def read(self, mutant: Mutant) -> Any:
        game = self.games[mutant.sample]
        player, reader, answers = ProtocolPlayer(RuleBot("always-call", game), game), LineReader(), []
        for text in reader.feed(mutant.files["lines"]):
            if (answer := player.answer(text)) is not None:
                answers.append((text, answer))
        return answers, player.result.hands, player.result.won

    def rule(self, mutant: Mutant, content: Any) -> str:
        game, ended, expected = self.games[mutant.sample], dict[int, float](), list[str]()
        for raw in mutant.files["lines"].split(b"\n")[:-1]:
            text = raw.decode("latin-1").strip(" \t\r")
            state = read_state(game, text) if len(raw) <= LONGEST else None
            if state is not None and state.turn == state.position:
                expected.append(text)
            elif state is not None and state.won is not None:
                ended.setdefault(state.hand, state.won)
        answers, hands, won = content
        if [text for text, _ in answers] != expected:
            raise Finding("other states were answered than those in which it is the player's turn")
        if any(answer not in (f"{text}:c", f"{text}:f") for text, answer in answers):
            raise Finding("an answer is not the state and an action")
        if hands != len(ended) or abs(won - sum(ended.values())) > 1e-9:
            raise Finding(
                f"{hands} hands and {won} chips were counted, not {len(ended)} and {sum(ended.values())}"
            )
        return "other hands: all states are answered, and each hand is counted once with its winnings"


def _states(game: Any, hand: int) -> list[str]:
    """The messages of a hand for the player in one position."""
    deck = Random(hand).sample(
        sorted(protocol_game(game).card_names()), k=min(52, len(protocol_game(game).card_names()))
    )
    size = protocol_game(game).hole_cards
    hole = tuple(tuple(deck.pop() for _ in range(size)) for _ in range(game.players))
    board = tuple(tuple(deck.pop() for _ in range(count)) for count in protocol_game(game).board_cards)
    line, texts, position = first_line(game), [], hand % game.players
    while True:
        texts.append(match_states(hand, line, hole, board)[position].text)
        if line.over:
            return texts
        wanted = LETTERS[(hand + len(line.actions)) % len(LETTERS)]
        line = line.take(wanted if wanted in line.legal else "c")
