"""The interface of policies of all games."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.tree import Tree


class Policy(ABC):
    """Action probabilities at every infoset of every player: a strategy profile.

    `TabularPolicy` is for enumerated games, `HoldemPolicy` for limit hold'em with an abstraction,
    `FlopPolicy` for Flop Hold'em, and `NetworkPolicy` for limit hold'em by a network, which has no table.

    Examples
    --------
    >>> policy = felt.CFRPlus("leduc").run(50).policy
    >>> isinstance(policy, felt.Policy), policy.game
    (True, 'leduc')
    >>> sorted(policy.at(0, "K check bet"))
    ['call', 'fold', 'raise']
    >>> import numpy as np
    >>> policy.sample(0, "K check bet", np.random.default_rng(1)) in ("fold", "call", "raise")
    True
    """

    if TYPE_CHECKING:  # subclasses have these as fields or properties

        @property
        def tree(self) -> Tree:
            """The compiled game."""

        @property
        def probabilities(self) -> Floats:
            """[slots] probability of each action of each infoset."""

    @property
    def game(self) -> str:
        """Name of the game."""
        return self.tree.game

    @property
    @abstractmethod
    def table(self) -> NDArray[Any]:
        """[slots] the policy as it is stored: probabilities, or weights in 255ths."""

    @abstractmethod
    def with_table(self, table: NDArray[Any]) -> Self:
        """A policy of the same game with another table."""

    @abstractmethod
    def at(self, player: int, infoset: str) -> dict[str, float]:
        """The probability of each action at an infoset, named by all observations of its player."""

    @abstractmethod
    def greedy(self) -> Self:
        """The policy that always takes the likeliest action (the first of equal ones)."""

    @abstractmethod
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The arrays that `save_policy` writes."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the table, in hexadecimal."""
        return hashlib.sha256(np.ascontiguousarray(self.table).data).hexdigest()

    def sample(self, player: int, infoset: str, generator: np.random.Generator) -> str:
        """Draw an action at an infoset."""
        actions = self.at(player, infoset)
        weights = np.array(list(actions.values()))
        return list(actions)[int(generator.choice(len(weights), p=weights / weights.sum()))]


def require_game(policy: Policy, tree: Tree) -> None:
    """Raise if a policy is for another game than that of `tree`."""
    if policy.tree.fingerprint != tree.fingerprint:
        if policy.game == tree.game:
            raise FeltError(
                f"The policy of {policy.game} has other buckets, or is a network without buckets."
            )
        raise FeltError(f"The policy is for {policy.game}, not for {tree.game}.")


def join_seats(policies: Sequence[Policy]) -> Policy:
    """Join strategies to a profile: player 0 plays as in policies[0], player 1 as in policies[1], and so on.

    Parameters
    ----------
    policies : sequence of Policy
        One for each player, all of the same game and abstraction.

    Returns
    -------
    Policy

    Examples
    --------
    >>> uniform, raises = felt.uniform_policy("leduc"), felt.rule_policy("leduc", "always-raise")
    >>> profile = felt.join_seats([uniform, raises])
    >>> profile.at(1, "K bet") == raises.at(1, "K bet")
    True
    """
    if not policies:
        raise FeltError("A profile needs one policy per player.")
    tree = policies[0].tree
    if len(policies) != tree.players:
        raise FeltError(f"{tree.game} has {tree.players} players; {len(policies)} policies were given.")
    table = np.empty_like(policies[0].table)
    for player, policy in enumerate(policies):
        require_game(policy, tree)
        for own in tree.player_slots(player):
            table[own] = policy.table[own]
    return policies[0].with_table(table)
