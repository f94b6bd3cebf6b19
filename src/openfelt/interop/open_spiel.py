"""OpenSpiel, both ways: games, policies and bots. Needs the extra `open-spiel`.

`felt.load_game("openspiel:NAME")` is a game of OpenSpiel as one of ours. This module converts the rest. Our
games are registered in OpenSpiel when it is imported: `pyspiel.load_game("openfelt_leduc(players=3)")`.

States of OpenSpiel are those of the game `to_spiel(game)`. Actions have OpenSpiel's own numbers in its games,
and those of `felt.features(game).actions` in ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from openfelt.bots.bot import Bot, Clock
from openfelt.bots.view import TreeView, View, view_of
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice, starts
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.features.features import features
from openfelt.games.game import CHANCE, AnyGame, Game
from openfelt.games.hand import Hand
from openfelt.games.open_spiel import MISSING, OpenSpielGame
from openfelt.games.registry import load_game
from openfelt.policy.policy import Policy
from openfelt.policy.tabular import TabularPolicy, require_tabular

try:
    import pyspiel
    from open_spiel.python import policy as spiel_policies
except ImportError:
    raise FeltError(MISSING) from None

from openfelt.interop.spiel_games import FeltSpielGame, register_games

register_games()


def to_spiel(game: AnyGame) -> Any:
    """A game as a `pyspiel.Game`; one of OpenSpiel itself in turns, one of ours as a Python game."""
    rules = load_game(game)
    return rules.spiel if isinstance(rules, OpenSpielGame) else FeltSpielGame.of(rules)


def to_pyspiel_policy(policy: Policy) -> Any:
    """A policy of an enumerated game as a `pyspiel.TabularPolicy`."""
    return pyspiel.TabularPolicy(_spiel_table(require_tabular(policy)))


def to_spiel_policy(policy: Policy) -> Any:
    """A policy of an enumerated game as an `open_spiel.python.policy.Policy`."""
    return _PythonPolicy(require_tabular(policy))


def from_spiel_policy(policy: Any, game: AnyGame) -> TabularPolicy:
    """A policy of OpenSpiel as one of ours.

    Parameters
    ----------
    policy : pyspiel.Policy or open_spiel.python.policy.Policy
        For the states of `to_spiel(game)`.
    game : Game, str or Path
        An enumerated game.

    Returns
    -------
    TabularPolicy
    """
    rules = load_game(game)
    tree = compile_game(rules)
    table = np.zeros(tree.num_slots)
    for row, (state, numbers) in _row_states(rules).items():
        found = policy.action_probabilities(state)
        shares = np.array([found.get(number, 0.0) for number in numbers], float)
        if not (np.isfinite(shares).all() and shares.min() >= 0 and abs(shares.sum() - 1) < 1e-6):
            raise FeltError(f"The policy has no distribution over the actions of '{tree.row_name(row)}'.")
        table[tree.slots(row)] = shares / shares.sum()
    return TabularPolicy(tree, table)


class SpielBot(Bot[TreeView]):
    """Bots of OpenSpiel as one of ours; it decides as the bot of the player whose turn it is.

    A bot of OpenSpiel is given a state with all hidden information. Here the state is any that the player
    cannot distinguish from the true one, so nothing hidden is revealed; the bot is restarted at it.

    Parameters
    ----------
    game : Game
        An enumerated game.
    bots : sequence of pyspiel.Bot
        One for each player.
    """

    def __init__(self, game: Game, bots: Sequence[Any]) -> None:
        super().__init__(game)
        self._bots, self._states = bots, _row_states(game)

    def act(self, view: TreeView, dice: Dice, clock: Clock) -> str:
        state, numbers = self._states[view.row]
        bot = self._bots[view.seat]
        bot.restart_at(state)
        return view.actions[numbers.index(bot.step(state))]


class FeltBot(pyspiel.Bot):  # type: ignore[misc]
    """One of our bots as a bot of OpenSpiel.

    Parameters
    ----------
    bot : Bot
        As `felt.load_bot` returns it.
    player : int
        The player for whom it plays.
    seed : int
        Of its random numbers.
    """

    def __init__(self, bot: Bot, player: int, seed: int = 0) -> None:
        super().__init__()
        self._bot, self._player, self._decisions = bot, player, 0
        (self._start,) = starts(seed, 1).tolist()

    def step(self, state: Any) -> int:
        """The action at a state of OpenSpiel."""
        hand = _hand_at(self._bot.game, state)
        self._decisions += 1
        view: View = view_of(hand, self._player)
        action = self._bot.act(view, Dice(self._start, self._decisions), Clock())
        return _numbers(hand)[hand.actions.index(action)]

    def restart_at(self, state: Any) -> None:
        """Nothing: the state is all that the bot needs."""


class _PythonPolicy(spiel_policies.Policy):  # type: ignore[misc]
    def __init__(self, policy: TabularPolicy) -> None:
        super().__init__(to_spiel(load_game(policy.game)), list(range(policy.tree.players)))
        self._table = _spiel_table(policy)

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        player = state.current_player() if player_id is None else player_id
        return dict(self._table[state.information_state_string(player)])


def _spiel_table(policy: TabularPolicy) -> dict[str, list[tuple[int, float]]]:
    """By information state string: the probability of each action."""
    return {
        state.information_state_string(): list(zip(numbers, policy.row(row).tolist(), strict=True))
        for row, (state, numbers) in _row_states(load_game(policy.game)).items()
    }


@lru_cache(maxsize=4)
def _row_states(game: Game) -> dict[int, tuple[Any, list[int]]]:
    """By infoset: an OpenSpiel state of it, and the numbers of its actions in our order."""
    tree, found = compile_game(game), {}
    for row, places in _paths(tree):
        hand = Hand(game)
        for place in places:
            hand.act(place)
        found[row] = _state_at(hand), _numbers(hand)
    return found


def _paths(tree: GameTree) -> Iterator[tuple[int, list[int]]]:
    """Each infoset with the places of the actions that lead to its first node."""
    nodes = tree.nodes
    parent = np.repeat(np.arange(tree.num_nodes), nodes.num_children)  # of nodes 1, 2, ... : breadth first
    decisions = np.flatnonzero(nodes.player >= 0)
    rows, first = np.unique(nodes.row[decisions], return_index=True)
    for row, node in zip(rows.tolist(), decisions[first].tolist(), strict=True):
        places = []
        while node:
            above = int(parent[node - 1])
            places.append(node - int(nodes.first_child[above]))
            node = above
        yield row, places[::-1]


def _state_at(hand: Hand) -> Any:
    if isinstance(hand.game, OpenSpielGame):
        return hand.game.spiel_state(hand.state)
    state = to_spiel(hand.game).new_initial_state()
    for place in range(len(hand.steps)):
        state.apply_action(_numbers(hand.before(place))[hand.steps[place].number])
    return state


def _numbers(hand: Hand) -> list[int]:
    """The numbers of the legal actions in OpenSpiel, in our order."""
    if isinstance(hand.game, OpenSpielGame):
        return list(hand.game.numbers(hand.state))
    if hand.mover == CHANCE:
        return list(range(len(hand.actions)))
    return [features(hand.game).number(action) for action in hand.actions]


def _hand_at(game: Game, state: Any) -> Hand:
    """The history of an OpenSpiel state as a hand."""
    hand = Hand(game)
    for number in state.history():
        hand.act(_numbers(hand).index(number))
    return hand
