"""Policies that are functions of features: neural networks, from any library.

A network is a function `network(features, masks)` from a batch of infosets, [batch, size] and legal actions
[batch, actions], to non-negative weights [batch, actions]. Weights of illegal actions do not count, and the
others need not sum to 1. In an enumerated game it is evaluated once at every infoset, and becomes a
`TabularPolicy`. In hold'em it is a `NetworkPolicy`, which is evaluated where it is needed. Networks that are
trained here are perceptrons, and can be saved (`perceptron.py`).

In hold'em the vector of an infoset consists of columns for the betting and columns for the cards. The exact
engine needs all hands of a board on all betting lines of a street: millions of infosets made of few parts.
A network that has a method `on_board(betting, cards, masks)` is given the parts separately, [lines, ...] and
[hands, ...], and returns weights [lines, hands, actions]: it can compute its first layer for each part, and
then add. It may say how many infosets it takes at a time (`batch`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import BOARD_CARDS
from openfelt.core.errors import FeltError, GameError
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import BettingTree, betting_only
from openfelt.games.features.enumerated import EnumeratedFeatures
from openfelt.games.features.features import Masks, Vectors, features
from openfelt.games.features.holdem import HoldemFeatures
from openfelt.games.game import AnyGame
from openfelt.games.holdem import Holdem, bet, betting_actions, first_betting, is_over
from openfelt.games.registry import load_game
from openfelt.policy.holdem import parse_infoset
from openfelt.policy.perceptron import Perceptron
from openfelt.policy.policy import Policy
from openfelt.policy.tabular import TabularPolicy

BATCH = 1 << 14  # infosets of one call; the layers of a small network then stay in a CPU's cache

Network: TypeAlias = Callable[[Vectors, Masks], NDArray[Any]]


class BoardNetwork(Protocol):
    """A network of hold'em that is given the betting lines and the hands of a board separately."""

    def on_board(self, betting: Vectors, cards: Vectors, masks: Masks) -> NDArray[Any]:
        """Weights [lines, hands, actions]; `betting` and `masks` are by line, `cards` by hand."""


@dataclass(frozen=True, eq=False)
class NetworkPolicy(Policy):
    """A policy of limit hold'em by a network, without a table; `network_policy` makes it.

    Parameters
    ----------
    rules : Holdem
        The game, for two or three players.
    network : callable
        As for `network_policy`.
    name : str
        What it is called in results.

    Examples
    --------
    >>> policy = felt.network_policy("holdem", lambda features, masks: masks)  # plays uniformly
    >>> policy
    NetworkPolicy(holdem, network)
    >>> policy.at(1, "AhKh")
    {'fold': 0.333..., 'call': 0.333..., 'raise': 0.333...}
    """

    rules: Holdem
    network: Any  # Network or BoardNetwork
    name: str = "network"

    def __repr__(self) -> str:
        return f"NetworkPolicy({self.game}, {self.name})"

    @property
    def game(self) -> str:
        """Name of the game."""
        return self.rules.name

    @property
    def tree(self) -> BettingTree:
        """The betting lines, with all hands in one bucket."""
        return betting_only(self.rules)

    @property
    def table(self) -> NDArray[Any]:
        """Raises: a network has no table."""
        raise FeltError(f"{self.name} plays by a network; this needs a policy with a table.")

    @property
    def probabilities(self) -> Floats:
        """Raises: a network has no table."""
        return self.table

    def with_table(self, table: NDArray[Any]) -> NetworkPolicy:
        """Raises: a network has no table."""
        raise FeltError(f"{self.name} plays by a network, which has no table to replace.")

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        if not isinstance(self.network, Perceptron):
            raise FeltError(f"{self.name} is a function; only networks that were trained here can be saved.")
        return self.network.arrays()

    @property
    def fingerprint(self) -> str:
        """SHA-256 of a trained network, in hexadecimal; empty for another function."""
        return str(getattr(self.network, "fingerprint", ""))

    def greedy(self) -> NetworkPolicy:
        return NetworkPolicy(self.rules, _Greedy(self), f"greedy {self.name}")

    @cached_property
    def layout(self) -> HoldemFeatures:
        """The layout of its input."""
        return HoldemFeatures(self.rules)

    @cached_property
    def betting_table(self) -> tuple[Vectors, Masks]:
        """Of the layout, for two players."""
        return self.layout.betting_table()

    def at(self, player: int, infoset: str) -> dict[str, float]:
        """The probability of each action, given hole cards, actions and board cards in the order observed.

        For example "AhKh raise call Qh7h2s check": hole cards, betting before the flop, the flop, betting.
        """
        hole, board, line = parse_infoset(infoset)
        betting = first_betting(self.rules.players, self.rules.bets)
        for word in line:
            if is_over(betting) or word not in betting_actions(betting):
                raise GameError(f"{self.game} has no betting line '{' '.join(line)}'.")
            betting = bet(betting, word)
        if is_over(betting) or betting.turn != player or BOARD_CARDS[betting.street] != len(board):
            raise GameError(
                f"Player {player} is not to act at '{infoset}', or the board is of another street."
            )
        shares, number = self.at_decision(player, hole, board, line), self.layout.number
        return {word: float(shares[number(word)]) for word in betting_actions(betting)}

    def at_decision(
        self, seat: int, hole: Sequence[int], board: Sequence[int], line: Sequence[str]
    ) -> Floats:
        """[actions] probabilities of fold, call and raise at a decision; illegal ones have 0."""
        betting = first_betting(self.rules.players, self.rules.bets)
        for word in line:
            betting = bet(betting, word)
        vector, mask = self.layout.encode(seat, hole, board, line), self.layout.mask(betting_actions(betting))
        cut, mask = self.layout.layout.cards, mask[None]
        return np.asarray(self._shares(vector[None, :cut], vector[None, cut:], mask)[0, 0])

    def on_board(self, board: Sequence[int], pairs: NDArray[Any], nodes: NDArray[Any]) -> Floats:
        """[nodes, pairs, actions] probabilities at nodes of two players' betting tree, for hole cards."""
        betting, masks = (table[nodes] for table in self.betting_table)
        cards = self.layout.card_table(board)[pairs]
        step = max(1, self._batch // max(1, len(pairs)))
        lines = (slice(first, first + step) for first in range(0, len(nodes), step))
        return np.concatenate([self._shares(betting[some], cards, masks[some]) for some in lines])

    @property
    def _batch(self) -> int:
        """Infosets of one call."""
        own = getattr(self.network, "batch", BATCH)
        return own if isinstance(own, int) and own > 0 else BATCH

    def _shares(self, betting: Vectors, cards: Vectors, masks: Masks) -> Floats:
        """[lines, hands, actions] probabilities of hands with `cards` on betting lines."""
        if hasattr(self.network, "on_board"):
            every = np.broadcast_to(masks[:, None], (len(betting), len(cards), masks.shape[1]))
            return _shares(self.network.on_board(betting, cards, masks), every)
        batch = np.empty((len(betting), len(cards), self.layout.size), np.float32)
        batch[:, :, : betting.shape[1]] = betting[:, None]
        batch[:, :, betting.shape[1] :] = cards
        mask = np.repeat(masks, len(cards), axis=0)
        weights = self.network(batch.reshape(-1, self.layout.size), mask)
        return _shares(weights, mask).reshape(len(betting), len(cards), -1)


class _Greedy:
    """The likeliest actions of a network, the first of equal ones."""

    def __init__(self, policy: NetworkPolicy) -> None:
        self.policy = policy
        self.batch, own = policy._batch, policy.fingerprint
        self.fingerprint = hashlib.sha256(f"greedy {own}".encode()).hexdigest() if own else ""

    def on_board(self, betting: Vectors, cards: Vectors, masks: Masks) -> NDArray[Any]:
        shares = self.policy._shares(betting, cards, masks)
        return np.asarray(np.eye(shares.shape[-1])[shares.argmax(axis=-1)])


class OneHiddenLayer(NamedTuple):
    """A network that kernels can evaluate."""

    layers: Perceptron
    greedy: bool  # whether the likeliest action is taken


def one_hidden_layer(policy: NetworkPolicy) -> OneHiddenLayer | None:
    """The network of a policy, if it is a perceptron with one hidden layer."""
    network, greedy = policy.network, False
    while isinstance(network, _Greedy):
        network, greedy = network.policy.network, True
    if isinstance(network, Perceptron) and len(network.weights) == 2:
        return OneHiddenLayer(network, greedy)
    return None


def network_policy(
    game: AnyGame, network: Network | BoardNetwork, name: str = "network"
) -> TabularPolicy | NetworkPolicy:
    """The policy of a neural network, or of any other function of features.

    Parameters
    ----------
    game : Game, str or Path
        Any game.
    network : callable
        `network(features, masks)`: from infosets [batch, size], as `felt.features` describes them, and legal
        actions [batch, actions] to non-negative weights [batch, actions]. In hold'em it may have a method
        `on_board(betting, cards, masks)` instead, and say in `batch` how many infosets it takes at a time
        (see `policy/network.py`).
    name : str
        What it is called in results.

    Returns
    -------
    TabularPolicy or NetworkPolicy
        In enumerated games the policy as a table; in hold'em one that `exploitability`, `value` and `match`
        take.

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.random.default_rng(1).normal(size=(felt.features("leduc").size, 5))
    >>> policy = felt.network_policy("leduc", lambda features, masks: np.exp(features @ weights))
    >>> felt.exploitability(policy).nash_conv
    5.79...
    """
    rules = load_game(game)
    if isinstance(rules, Holdem):
        return NetworkPolicy(rules, network, name)
    layout = features(rules)
    assert isinstance(layout, EnumeratedFeatures)
    assert callable(network)
    masks, tree = layout.masks(), layout.tree
    rows = np.arange(tree.num_rows)
    shares = [
        _shares(network(layout.table(some), masks[some]), masks[some])
        for some in np.array_split(rows, max(1, -(-len(rows) // BATCH)))
    ]
    row, number = np.nonzero(masks)
    table = np.empty(tree.num_slots)
    table[tree.first_slot[row] + layout.places[row, number]] = np.concatenate(shares)[row, number]
    return TabularPolicy(tree, table)


def _shares(weights: NDArray[Any], masks: Masks) -> Floats:
    """Probabilities from a network's weights; raises where there are none."""
    found = np.asarray(weights)
    if found.shape != masks.shape:
        raise FeltError(f"The network returned an array of shape {found.shape} for masks {masks.shape}.")
    legal = np.where(masks, found, 0)
    total = legal.sum(axis=-1, keepdims=True)
    if not (np.isfinite(total).all() and (total > 0).all() and (legal >= 0).all()):
        raise FeltError("The weights of a network must be finite, not negative, and not all zero.")
    return np.asarray(legal / total)
