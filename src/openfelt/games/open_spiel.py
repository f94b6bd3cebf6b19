"""Games of OpenSpiel as games of ours: `openspiel:liars_dice(dice_sides=3)`; every command accepts them.

A state is the list of actions that led to it, with those of chance, so every history is a state of its own.
What a player observes is the information state string of OpenSpiel wherever it is to move: as with Gambit
files, this implies its own earlier actions and all that it knows. Simultaneous games are played in turns.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple, TypeAlias

from openfelt.core.errors import GameError, unknown
from openfelt.games.game import CHANCE, TERMINAL, Game

PREFIX = "openspiel:"
MISSING = "OpenSpiel's games need open_spiel, which is not installed: pip install 'openfelt[open-spiel]'."
NOTHING = "-"  # the name of an empty information state
MOST_HISTORIES = 3_000_000  # minutes; each is a state of its own
SURELY = 10  # a game is refused if it seems to be larger by this factor: the estimate is rough
PROBES, LONGEST_PLAY = 500, 1_000

History: TypeAlias = tuple[int, ...]


class Position(NamedTuple):
    """What OpenSpiel says of a history."""

    turn: int
    numbers: tuple[int, ...]  # of the legal actions or outcomes
    actions: tuple[str, ...]  # their names
    chance: tuple[float, ...]
    infoset: str  # of the player to move
    payoffs: tuple[float, ...]


@dataclass(frozen=True)
class OpenSpielGame(Game):
    """A game of OpenSpiel."""

    key: ClassVar[str] = "openspiel"
    unit: ClassVar[str] = "units"
    is_zero_sum: ClassVar[bool] = False  # unless its payoffs happen to be
    spec: str  # its name in OpenSpiel, with parameters

    @property
    def name(self) -> str:
        return f"{PREFIX}{self.spec}"

    @cached_property
    def players(self) -> int:
        return int(self.spiel.num_players())

    @property
    def spiel(self) -> Any:
        """The game of OpenSpiel, sequential."""
        return sequential(self.spec)[0]

    def start(self) -> History:
        return ()

    def turn(self, state: History) -> int:
        return _position(self.spec, state).turn

    def actions(self, state: History) -> Sequence[str]:
        return _position(self.spec, state).actions

    def chance(self, state: History) -> Sequence[float]:
        return _position(self.spec, state).chance

    def play(self, state: History, action: str) -> History:
        here = _position(self.spec, state)
        return (*state, here.numbers[here.actions.index(action)])

    def sees(self, state: History, action: str, player: int) -> str:
        """The information state in which the player moves next."""
        after = _position(self.spec, self.play(state, action))
        return after.infoset if after.turn == player else ""

    def payoffs(self, state: History) -> Sequence[float]:
        return _position(self.spec, state).payoffs

    def numbers(self, state: History) -> tuple[int, ...]:
        """OpenSpiel's numbers of the `actions`."""
        return _position(self.spec, state).numbers

    def spiel_state(self, state: History) -> Any:
        """The state of OpenSpiel."""
        return _replay(self.spec, state)


def read_open_spiel(name: str) -> OpenSpielGame:
    """The game of a name with the prefix."""
    return open_spiel_game(name.removeprefix(PREFIX))


def open_spiel_game(spec: str) -> OpenSpielGame:
    """The game of OpenSpiel with that name; its name is written as OpenSpiel writes it."""
    return OpenSpielGame(sequential(spec)[1])


@lru_cache(maxsize=8)
def sequential(spec: str) -> tuple[Any, str]:
    """A game of OpenSpiel, in turns if it is simultaneous, and its name; raises if it cannot be compiled."""
    game = _load(spec)
    import pyspiel

    name = str(game).removesuffix("()")
    kind = pyspiel.GameType
    facts = game.get_type()
    if facts.dynamics == kind.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    elif facts.dynamics != kind.Dynamics.SEQUENTIAL:
        raise GameError(f"{PREFIX}{spec} is a mean-field game; only finite games of players can be compiled.")
    if facts.chance_mode == kind.ChanceMode.SAMPLED_STOCHASTIC:
        raise GameError(f"{PREFIX}{spec} hides the probabilities of chance, so it cannot be compiled.")
    hidden = facts.information != kind.Information.PERFECT_INFORMATION
    if hidden and not game.get_type().provides_information_state_string:
        raise GameError(f"{PREFIX}{spec} has no information state strings, so it cannot be compiled.")
    size = _estimated_histories(game)
    if size > SURELY * MOST_HISTORIES:
        size_text = f"about {size:.0e} histories" if size < math.inf else "plays without end"
        raise GameError(f"{PREFIX}{spec} has {size_text}; at most {MOST_HISTORIES:.0e} can be compiled.")
    return game, name


def _estimated_histories(game: Any) -> float:
    """Knuth's estimate (1975) of the number of histories, from random plays."""
    draw, total = random.Random(1), 0.0
    for _ in range(PROBES):
        state, width = game.new_initial_state(), 1.0
        for _ in range(LONGEST_PLAY):
            if state.is_terminal():
                break
            legal = state.legal_actions()
            width *= len(legal)
            total += width
            state.apply_action(draw.choice(legal))
        else:
            return math.inf
    return total / PROBES


def _load(spec: str) -> Any:
    try:
        import pyspiel
    except ImportError:
        raise GameError(MISSING) from None
    word = spec.partition("(")[0].strip()
    if word not in pyspiel.registered_names():
        raise GameError(unknown("game of OpenSpiel", word, pyspiel.registered_names()))
    try:
        return pyspiel.load_game(spec)
    except (pyspiel.SpielError, RuntimeError, ValueError, TypeError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise GameError(f"OpenSpiel cannot load {spec}: {reason}.") from None


def _replay(spec: str, history: History) -> Any:
    state = sequential(spec)[0].new_initial_state()
    for number in history:
        state.apply_action(number)
    return state


@lru_cache(maxsize=1 << 17)  # a history is asked for as a child, and later again
def _position(spec: str, history: History) -> Position:
    state = _replay(spec, history)
    if state.is_terminal():
        return Position(TERMINAL, (), (), (), "", tuple(state.returns()))
    if state.is_chance_node():
        outcomes = [(int(number), float(share)) for number, share in state.chance_outcomes() if share > 0]
        numbers, shares = zip(*outcomes, strict=True)
        total = sum(shares)  # 1 up to rounding
        return Position(CHANCE, numbers, _names(state, numbers), tuple(s / total for s in shares), "", ())
    numbers = tuple(state.legal_actions())
    return Position(int(state.current_player()), numbers, _names(state, numbers), (), infoset_name(state), ())


def _names(state: Any, numbers: Sequence[int]) -> tuple[str, ...]:
    """The names of actions; with their numbers if two are alike."""
    player = state.current_player()
    words = [" ".join(state.action_to_string(player, number).split()) or str(number) for number in numbers]
    if len(set(words)) < len(words):
        words = [f"{word} ({number})" for word, number in zip(words, numbers, strict=True)]
    return tuple(words)


def infoset_name(state: Any) -> str:
    """The information state of the player to move, on one line."""
    try:
        text = state.information_state_string()
    except RuntimeError:  # some games of perfect information have none
        text = state.history_str()
    return str(text).strip().replace("\\", "\\\\").replace("\n", "\\n") or NOTHING
