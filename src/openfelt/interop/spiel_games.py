"""Our games as Python games of OpenSpiel, registered under names such as openfelt_leduc."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any

import numpy as np
import pyspiel

from openfelt.games.compile.compiler import compile_game
from openfelt.games.features.features import features
from openfelt.games.flop_holdem import FlopHoldem
from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.hand import Hand
from openfelt.games.holdem import BET, Holdem
from openfelt.games.registry import GAMES
from openfelt.solve.traverse.open_tree import open_tree

PREFIX = "openfelt_"
# Parameters without default values in our games.
DEFAULTS = {
    "one_card": {"cards": 13},
    "goofspiel": {"cards": 4},
    "bluff": {"dice1": 1, "dice2": 1, "faces": 4},
    "princess_monster": {"rows": 3, "columns": 3, "horizon": 5},
    "phantom_ttt": {"rows": 2, "columns": 2, "line": 2},
    "dark_hex": {"size": 2},
    "oshi_zumo": {"coins": 4, "size": 1},
    "battleship": {"rows": 2, "columns": 2, "shots": 2},
}


class FeltSpielGame(pyspiel.Game):  # type: ignore[misc]
    """One of our games in OpenSpiel."""

    def __init__(self, rules: Game, params: dict[str, Any] | None = None) -> None:
        self.rules = rules
        super().__init__(_game_type(rules), _game_info(rules), params or {})

    @staticmethod
    @lru_cache(maxsize=8)
    def of(rules: Game) -> FeltSpielGame:
        """The game with these rules; the same object each time."""
        return FeltSpielGame(rules)

    def new_initial_state(self) -> FeltSpielState:
        """The state at the start."""
        return FeltSpielState(self, self.rules)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> FeltSpielObserver:
        """Observes what a player knows, whatever type of observation is asked for."""
        return FeltSpielObserver(self.rules)


class FeltSpielState(pyspiel.State):  # type: ignore[misc]
    """A hand in progress."""

    def __init__(self, game: FeltSpielGame, rules: Game) -> None:
        super().__init__(game)
        self.hand = Hand(rules)

    def current_player(self) -> int:
        """The player to move, as OpenSpiel numbers them."""
        kinds = {CHANCE: pyspiel.PlayerId.CHANCE, TERMINAL: pyspiel.PlayerId.TERMINAL}
        player: int = kinds.get(self.hand.mover, self.hand.mover)
        return player

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(features(self.hand.game).number(action) for action in self.hand.actions)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The outcomes of chance by their places, with their probabilities."""
        return list(enumerate(self.hand.game.chance(self.hand.state)))

    def _apply_action(self, action: int) -> None:
        if self.hand.mover == CHANCE:
            self.hand.act(action)
            return
        number = features(self.hand.game).number
        self.hand.act([number(word) for word in self.hand.actions].index(action))

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return self.hand.actions[action]
        return features(self.hand.game).actions[action]

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.hand.mover == TERMINAL

    def returns(self) -> list[float]:
        """What each player has won."""
        return list(self.hand.payoffs) if self.is_terminal() else [0.0] * self.hand.game.players

    def __str__(self) -> str:
        return " ".join(step.action for step in self.hand.steps)


class FeltSpielObserver:
    """Information states: the infoset's name, and its vector of `felt.features`."""

    def __init__(self, rules: Game) -> None:
        self._layout = features(rules)
        self.tensor = np.zeros(self._layout.size, np.float32)
        self.dict = {"infoset": self.tensor}

    def set_from(self, state: FeltSpielState, player: int) -> None:
        """Fill the tensor."""
        self.tensor[:] = self._layout.infoset(state.hand, player)

    def string_from(self, state: FeltSpielState, player: int) -> str:
        """The player, and everything that it has observed."""
        seen = " ".join(step.seen[player] for step in state.hand.steps if step.seen[player])
        return f"player {player}: {seen or 'start'}"


def register_games() -> None:
    """Register our games, with their parameters."""
    for key, kind in GAMES.items():
        is_played = kind is not FlopHoldem  # whose histories are never walked
        if is_played and PREFIX + key not in pyspiel.registered_names():
            rules = kind(**DEFAULTS.get(key, {}))
            facts = _game_type(rules, _parameters(rules), loadable=True)
            pyspiel.register_game(facts, _registered(kind))


def _registered(kind: type[Game]) -> type[FeltSpielGame]:
    """The class to register: OpenSpiel releases it after Python has ended, where a function would crash."""

    class Registered(FeltSpielGame):
        def __init__(self, params: dict[str, Any] | None = None) -> None:
            usual = kind(**DEFAULTS.get(kind.key, {}))
            given = {
                name: value
                for name, value in (params or {}).items()
                if value or getattr(usual, name) is not None  # 0 stands for a number without a default
            }
            super().__init__(kind(**DEFAULTS.get(kind.key, {}) | given), params)

    return Registered


def _parameters(rules: Game) -> dict[str, Any]:
    """Names and default values; 0 for a number that has none."""
    fields = dataclasses.fields(rules)  # type: ignore[arg-type]
    values = {field.name: getattr(rules, field.name) for field in fields if field.name != "buckets"}
    return {name: 0.0 if value is None else value for name, value in values.items()}


def _game_type(rules: Game, parameters: dict[str, Any] | None = None, *, loadable: bool = False) -> Any:
    kind = pyspiel.GameType
    zero_sum = rules.is_poker or (not loadable and _sums_to_zero(rules))
    return kind(
        short_name=PREFIX + rules.key,
        long_name=f"{rules.key} of OpenFelt",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kind.Information.IMPERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM if zero_sum else kind.Utility.GENERAL_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=10 if loadable else rules.players,
        min_num_players=1 if loadable else rules.players,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=parameters or {},
        default_loadable=True,
    )


def _sums_to_zero(rules: Game) -> bool:
    return bool((abs(compile_game(rules).nodes.payoffs.sum(axis=1)) < 1e-9).all())


def _game_info(rules: Game) -> Any:
    if isinstance(rules, Holdem):
        most = float(rules.bets * sum(BET))
        outcomes, length, least, most = 52, 64, -most, most * (rules.players - 1)
    else:
        tree = compile_game(rules)
        least, most = tree.payoff_range
        chance = tree.nodes.num_children[tree.nodes.player == CHANCE]
        outcomes, length = int(chance.max(initial=0)), open_tree(tree).depth
    return pyspiel.GameInfo(
        num_distinct_actions=len(features(rules).actions),
        max_chance_outcomes=outcomes,
        num_players=rules.players,
        min_utility=least,
        max_utility=most,
        utility_sum=0.0 if rules.is_zero_sum else None,
        max_game_length=length,
    )
