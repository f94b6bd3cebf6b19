"""Many games at once, played by kernels: what a neural player trains on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import BOARD_CARDS, CARDS
from openfelt.core.errors import FeltError
from openfelt.core.jit import Ints, Longs, episode_kernel, part
from openfelt.core.random import ITERATION_DRAWS, Stream, go_to, starts, uniform
from openfelt.core.sampling import categorical
from openfelt.games.compile.betting_tree import KIND, STREET_SHIFT, betting_nodes
from openfelt.games.features.enumerated import EnumeratedFeatures
from openfelt.games.features.features import Features, Masks, Vectors, features
from openfelt.games.features.holdem import HoldemFeatures
from openfelt.games.game import AnyGame, Game
from openfelt.games.registry import load_game
from openfelt.policy.holdem import WHOLE, require_holdem_policy
from openfelt.policy.policy import Policy
from openfelt.policy.tabular import TabularPolicy
from openfelt.solve.environments.card_tree import CardTree
from openfelt.solve.environments.observation import (
    StateLayout,
    action_place,
    note_action,
    observe,
    start_vector,
    tree_layout,
)
from openfelt.solve.traverse.episode import PLAYER, begin, first_slot, follow, num_actions, payoff
from openfelt.solve.traverse.holdem import DRAWN, PLACES, STREET, Deal, holdem_tree
from openfelt.solve.traverse.open_tree import open_tree

MOST_UNSEEN = 100_000  # games in a row that may end before the learner acts
EVERYBODY = -1  # as a seat: the learner plays all


class VectorEnv:
    """Many copies of a game, advanced together: the environment of neural players.

    Each game is always at a decision. `step` takes one action per game; a game that ends pays its `rewards`,
    is `dones`, and begins anew at once. The arrays are overwritten by the next step; copy what you keep.

    Parameters
    ----------
    game : Game, str or Path
        Any game: enumerated, or limit hold'em for two or three players.
    count : int
        The number of games.
    seed : int
        Of chance and of the opponent.
    opponent : Policy, optional
        Plays all seats but that of the learner. By default the learner plays all seats.
    seat : int, optional
        The learner's seat; by default it changes from game to game. Games that end before the learner has
        acted are not shown.

    Examples
    --------
    >>> env = felt.VectorEnv("leduc", 4, seed=1)
    >>> env.features.shape, env.masks.shape, env.players
    ((4, 34), (4, 5), array([0, 0, 0, 0], dtype=int8))
    >>> for _ in range(20):
    ...     env.step(env.sample())
    >>> env.layout.actions
    ('check', 'bet', 'fold', 'call', 'raise')
    """

    features: Vectors  # [count, size] the infosets of the players to move (`felt.features`)
    masks: Masks  # [count, actions] their legal actions
    players: NDArray[np.int8]  # [count] the players to move
    infosets: Ints  # [count] numbers of the infosets in enumerated games; -1 in hold'em
    rewards: Vectors  # [count, players] payoffs of the games that the last step ended, else 0
    dones: Masks  # [count] whether the last step ended the game

    def __init__(
        self,
        game: AnyGame,
        count: int,
        *,
        seed: int = 0,
        opponent: Policy | None = None,
        seat: int | None = None,
    ) -> None:
        self.game: Game = load_game(game)
        if count < 1:
            raise FeltError(f"There must be at least one game, not {count}.")
        if seat is not None and (opponent is None or not 0 <= seat < self.game.players):
            raise FeltError(
                f"seat needs an opponent, and is from 0 to {self.game.players - 1}: {seat} was given."
            )
        self.count = count
        self.layout: Features = features(self.game)
        self._rules = _rules(self.game, self.layout, opponent, seat)
        players, actions = self.game.players, len(self.layout.actions)
        self._games = _Games(
            node=np.zeros(count, np.int32),
            stream=np.zeros(count, np.uint64),
            episode=np.zeros(count, np.int64),
            learner=np.zeros(count, np.int8),
            line=np.zeros(count, np.int64),
            cards=np.zeros((count, 2 * players + 5), np.int32),
            at=np.zeros((count, PLACES), np.int64),
            shift=np.zeros((count, 4 * players), np.int64),
            value=np.zeros((count, players), np.int32),
        )
        self._seen = _Seen(
            np.zeros((count, self.layout.size), np.float32),
            np.zeros((count, actions), np.bool_),
            np.zeros(count, np.int8),
            np.zeros(count, np.int32),
            np.zeros((count, players), np.float32),
            np.zeros(count, np.bool_),
        )
        self.features, self.masks, self.players, self.infosets, self.rewards, self.dones = self._seen
        self._suits, self._chosen = np.zeros(8, np.int64), np.zeros(count, np.int32)
        self._start, self._dice = np.zeros((2, 1), np.uint64)
        self._none = np.zeros((0, 0), np.float32)
        self.reset(seed)

    def reset(self, seed: int = 0) -> None:
        """Begin all games anew."""
        self._start[:], self._dice[:] = starts(seed, 2)
        self._games.episode[:] = np.arange(self.count)
        self._checked(_begin_all(self._rules, self._games, self._seen, self._suits, self._start[0]))

    def step(self, actions: NDArray[np.integer[Any]]) -> None:
        """Take one action in each game, by its number in `layout.actions`."""
        chosen = np.asarray(actions)
        if chosen.shape != (self.count,) or chosen.dtype.kind not in "iu":
            raise FeltError(f"A step needs {self.count} whole numbers, one action per game.")
        wrong = _first_illegal(self._rules, self._games, chosen)
        if wrong >= 0:
            word = chosen[wrong]
            raise FeltError(f"Action {word} is not legal in game {wrong}: masks[{wrong}] has the legal ones.")
        self._checked(_step(self._rules, self._games, self._seen, self._suits, self._start[0], chosen))
        if isinstance(self._rules.layout, StateLayout) and self.infosets.min() < 0:
            raise FeltError("The games in progress are impossible: they are from a damaged checkpoint.")

    def sample(self, probabilities: Vectors | None = None) -> Ints:
        """[count] legal actions, drawn by probabilities [count, actions]; by default uniformly.

        The array is overwritten by the next call. Weights of illegal actions do not count.
        """
        weights = self._none if probabilities is None else np.asarray(probabilities, np.float32)
        if len(weights) and weights.shape != self.masks.shape:
            raise FeltError(f"Probabilities must have the shape {self.masks.shape}, not {weights.shape}.")
        _sample(weights, self.masks, self._dice, self._chosen)
        return self._chosen

    def copy(self, source: NDArray[np.integer[Any]], target: NDArray[np.integer[Any]]) -> None:
        """Copy games onto others, with chance to come: to try several actions from one decision."""
        for array in (*self._games, *self._seen):
            array[target] = array[source]

    def state(self) -> dict[str, NDArray[Any]]:
        """All arrays, which are changed in place: a saved copy of them, written back, continues the games."""
        return {**self._games._asdict(), **self._seen._asdict(), "start": self._start, "dice": self._dice}

    def is_possible(self) -> bool:
        """Whether the arrays, after a copy was written back, can be a state of the games."""
        games, node, players = self._games, self._rules.tree.node, self.game.players
        if not _within(games.node, 0, len(node)) or not _within(games.learner, EVERYBODY, players):
            return False
        player = node[games.node, PLAYER]
        if not np.array_equal(player, self.players) or not _within(player, 0, players):
            return False
        if isinstance(self._rules.layout, StateLayout):
            return self._are_possible_states()
        if isinstance(self.layout, EnumeratedFeatures):
            return np.array_equal(self.infosets, self._rules.layout.row[games.node])
        assert isinstance(self.layout, HoldemFeatures)
        street = node[games.node, KIND] >> STREET_SHIFT & 3
        drawn = 2 * players + np.array(BOARD_CARDS)[street]
        return (
            _within(games.cards, 0, CARDS)
            and _within(games.line, 0, self.layout.layout.places)
            and np.array_equal(games.at[:, STREET], street)
            and np.array_equal(games.at[:, DRAWN], drawn)
        )

    def _are_possible_states(self) -> bool:
        """Whether the lists of observations exist, and those of the players to move fit the states."""
        layout, lists = self._rules.layout, self._games.cards[:, : self.game.players]
        if not _within(lists, -1, len(layout.row)):
            return False
        own = lists[np.arange(self.count), self.players]
        if not (own >= 0).all() or not np.array_equal(self.infosets, layout.row[own]):
            return False
        assert isinstance(self.layout, EnumeratedFeatures)
        first_row = self.layout.tree.first_row
        first, end = first_row[self.players], first_row[self.players + 1]
        if not ((first <= self.infosets) & (self.infosets < end)).all():
            return False
        return np.array_equal(self.layout.places[self.infosets] >= 0, layout.places[self._games.node] >= 0)

    def _checked(self, unseen: int) -> None:
        if unseen:
            raise FeltError(f"The opponent ends every game of {self.game.name} before the learner acts.")


def _within(numbers: NDArray[Any], low: int, high: int) -> bool:
    return bool((low <= numbers).all() and (numbers < high).all())


class _Rules(NamedTuple):
    """The game as kernels read it, and who plays."""

    tree: Any
    layout: Any
    table: NDArray[Any]  # [slots] the opponent's policy; empty if there is none
    whole: float  # what the probabilities of an infoset sum to
    seat: int  # the learner's; EVERYBODY: all of them
    rotates: bool  # whether the learner's seat changes from game to game


class _Games(NamedTuple):
    """The state of each game."""

    node: Ints  # [count]
    stream: NDArray[np.uint64]  # [count] random numbers
    episode: Longs  # [count] numbers of the games since the reset
    learner: NDArray[np.int8]  # [count] the learner's seat
    line: Longs  # [count] number of actions on the street, in hold'em
    cards: Ints  # [count, ...] as in Deal or, without histories, in StateTree; so are the next three
    at: Longs
    shift: Longs
    value: Ints


class _Seen(NamedTuple):
    """The public arrays of VectorEnv."""

    features: Vectors
    masks: Masks
    players: NDArray[np.int8]
    infosets: Ints
    rewards: Vectors
    dones: Masks


def _rules(game: Game, layout: Features, opponent: Policy | None, seat: int | None) -> _Rules:
    learner, rotates = EVERYBODY if seat is None else seat, opponent is not None and seat is None
    if isinstance(layout, EnumeratedFeatures):
        table = np.zeros(0)
        if opponent is not None:
            if (
                not isinstance(opponent, TabularPolicy)
                or opponent.tree.fingerprint != layout.tree.fingerprint
            ):
                raise FeltError(f"The opponent plays {opponent.game}, not {game.name}.")
            table = opponent.probabilities
        opened = open_tree(layout.tree).tree
        return _Rules(opened, tree_layout(layout.tree, layout), table, 1.0, learner, rotates)
    assert isinstance(layout, HoldemFeatures)
    if opponent is None:
        node, leaves, _ = betting_nodes(game.players, layout.game.bets)
        return _Rules(CardTree(node, leaves), layout.layout, np.zeros(0), 1.0, learner, rotates)
    opponent = require_holdem_policy(opponent)
    if opponent.rules != game.unabstracted:
        raise FeltError(f"The opponent plays {opponent.game}, not {game.name}.")
    tree = holdem_tree(opponent.tree)
    return _Rules(tree, layout.layout, opponent.weights, float(WHOLE), learner, rotates)


@part
def _deal_of(games: _Games, game: int) -> Deal:
    return Deal(games.cards[game], games.at[game], games.shift[game], games.value[game])


@part
def _is_learners(rules: _Rules, games: _Games, game: int, node: int) -> bool:
    """Whether the learner is to move, or the game is over."""
    player = rules.tree.node[node, PLAYER]
    return len(rules.table) == 0 or player < 0 or player == games.learner[game]


@part
def _play_on(rules: _Rules, games: _Games, seen: _Seen, game: int, node: int) -> int:
    """Let the opponent act until the learner is to move or the game is over."""
    deal, stream = _deal_of(games, game), games.stream[game : game + 1]
    while not _is_learners(rules, games, game, node):
        slot, count = first_slot(rules.tree, deal, node), num_actions(rules.tree, node)
        place = categorical(rules.table, slot, count, uniform(stream) * rules.whole)
        node = _act(rules, games, seen, game, node, place)
    return node


@part
def _act(rules: _Rules, games: _Games, seen: _Seen, game: int, node: int, place: int) -> int:
    after = follow(rules.tree, _deal_of(games, game), node, place, games.stream[game : game + 1])
    line = games.line[game : game + 1]
    note_action(rules.layout, seen.features[game], rules.tree.node, node, after, place, line)
    return after


@part
def _begin(rules: _Rules, games: _Games, seen: _Seen, start: np.uint64, game: int) -> int:
    """Begin games until the learner is to move in one; returns its node, or -1 if that does not happen."""
    players = seen.rewards.shape[1]
    for _ in range(MOST_UNSEEN):
        stream = games.stream[game : game + 1]
        go_to(stream, start, games.episode[game] * ITERATION_DRAWS)
        number = games.episode[game] // len(games.node) + game
        games.learner[game] = number % players if rules.rotates else rules.seat
        games.line[game] = 0
        start_vector(rules.layout, seen.features[game])
        node = begin(rules.tree, _deal_of(games, game), stream)
        node = _play_on(rules, games, seen, game, node)
        games.episode[game] += len(games.node)
        if rules.tree.node[node, PLAYER] >= 0:
            return node
    return -1


@part
def _show(rules: _Rules, games: _Games, seen: _Seen, suits: Longs, game: int, node: int) -> None:
    games.node[game] = node
    seen.players[game] = rules.tree.node[node, PLAYER]
    vector, mask = seen.features[game], seen.masks[game]
    seen.infosets[game] = observe(
        rules.layout, vector, mask, rules.tree.node, node, _deal_of(games, game), suits
    )


@episode_kernel
def _begin_all(rules: _Rules, games: _Games, seen: _Seen, suits: Longs, start: np.uint64) -> int:
    """Begin all games; returns 1 if one of them ends each time before the learner acts, else 0."""
    for game in range(len(games.node)):
        node = _begin(rules, games, seen, start, game)
        if node < 0:
            return 1
        _show(rules, games, seen, suits, game, node)
        seen.dones[game] = False
        for player in range(seen.rewards.shape[1]):
            seen.rewards[game, player] = 0.0
    return 0


@episode_kernel
def _first_illegal(rules: _Rules, games: _Games, actions: NDArray[Any]) -> int:
    """The first game in which the action is illegal; -1 if there is none."""
    for game in range(len(games.node)):
        if action_place(rules.layout, rules.tree.node, games.node[game], actions[game]) < 0:
            return game
    return -1


@episode_kernel
def _step(
    rules: _Rules, games: _Games, seen: _Seen, suits: Longs, start: np.uint64, actions: NDArray[Any]
) -> int:
    """Take an action in each game, which must be legal; returns as `_begin_all` does."""
    players = seen.rewards.shape[1]
    for game in range(len(games.node)):
        node = games.node[game]
        place = action_place(rules.layout, rules.tree.node, node, actions[game])
        node = _act(rules, games, seen, game, node, place)
        node = _play_on(rules, games, seen, game, node)
        done = rules.tree.node[node, PLAYER] < 0
        seen.dones[game] = done
        for player in range(players):
            reward = payoff(rules.tree, _deal_of(games, game), node, player) if done else 0.0
            seen.rewards[game, player] = reward
        if done:
            node = _begin(rules, games, seen, start, game)
            if node < 0:
                return 1
        _show(rules, games, seen, suits, game, node)
    return 0


@episode_kernel
def _sample(weights: Vectors, masks: Masks, stream: Stream, chosen: Ints) -> None:
    for game in range(len(chosen)):
        total = 0.0
        for action in range(masks.shape[1]):
            if masks[game, action]:
                total += weights[game, action] if len(weights) else 1.0
        point = uniform(stream) * total
        for action in range(masks.shape[1]):
            if masks[game, action]:
                chosen[game] = action
                point -= weights[game, action] if len(weights) else 1.0
                if point < 0.0:
                    break
