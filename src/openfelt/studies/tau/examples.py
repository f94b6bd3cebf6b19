"""TAU, section 5.1: the training examples of its network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openfelt.arena.hand_kernels import deal_block
from openfelt.arena.match import Progress
from openfelt.arena.match_blocks import FRESH, Contest, Setup
from openfelt.bots.registry import load_bot
from openfelt.core.disk_cache import FolderContents, load_or_build
from openfelt.core.errors import FeltError
from openfelt.games.holdem import Holdem
from openfelt.opponents.models.network_features import (
    ACTIONS,
    AVAILABLE,
    MAX_NODE,
    STREET,
    Examples,
    Features,
    feature_columns,
    hand_examples,
)
from openfelt.studies.tau.network_search import ExpansionBot

SEARCHER, ITSELF = "mcts", "itself"
OPPONENTS = (ITSELF, "random", "always-raise")
SEARCH_ITERATIONS = 100  # a decision
BLOCK = 500  # hands that are played at a time
TEST_EVERY = 16  # one example in 16 is for testing: TAU's 20,000 of 320,000
PUBLIC = (MAX_NODE, AVAILABLE, STREET)  # public features of figures 5 to 7


def collect(
    opponent: str, features: Features, wanted: int, *, seed: int, progress: Progress = lambda _: None
) -> Examples:
    """Decisions of both seats in hands that the search won; in self-play, either of the two searches."""
    game = Holdem()
    searcher = ExpansionBot(game, None, SEARCH_ITERATIONS)
    second = ExpansionBot(game, None, SEARCH_ITERATIONS) if opponent == ITSELF else load_bot(opponent, game)
    contest = Contest(Setup(game.name, (SEARCHER, opponent), seed, FRESH), [searcher, second])
    blocks: list[Examples] = []
    have, first = 0, 0
    while have < wanted:
        blocks.append(_won_examples(contest, features, first, alone=opponent != ITSELF))
        progress(min(len(blocks[-1].action), wanted - have))
        have, first = have + len(blocks[-1].action), first + BLOCK
    return concatenate(blocks, slice(0, wanted))


def _won_examples(contest: Contest, features: Features, first: int, *, alone: bool) -> Examples:
    """Examples of a block of hands; `alone`: only the first participant is the search."""
    played, stats = contest.play_hands(first, BLOCK)
    for name, each in zip(contest.participants.names, stats, strict=True):
        if report := each.fault_report(name):
            raise FeltError(report)
    deals = deal_block(contest.game.players, contest.streams, first, BLOCK)
    won, sitting = played.won[:, 0], contest.engine.plan.participants(first, BLOCK)[:, 0]
    winner = np.argmax(won, axis=1)
    counts = won.max(axis=1) > 0
    if alone:
        counts &= sitting[np.arange(BLOCK), winner] == 0
    seat, leaf = np.where(counts, winner, -1), np.ascontiguousarray(played.leaf[:, 0])
    return hand_examples(features, deals.cards, deals.board, deals.permutation, leaf, seat)


def collect_all(
    features: Features, count: int, *, seed: int, folder: Path, progress: Progress = lambda _: None
) -> list[Examples]:
    """Equal numbers from each opponent; sets that the folder holds are not collected again."""
    found = []
    for place, opponent in enumerate(OPPONENTS):
        wanted = (count + len(OPPONENTS) - 1 - place) // len(OPPONENTS)

        def make(opponent: str = opponent, wanted: int = wanted) -> FolderContents:
            return collect(opponent, features, wanted, seed=seed, progress=progress)._asdict(), {}

        def restore(arrays: dict[str, Any], _: object) -> Examples:
            return Examples(np.array(arrays["features"]), np.array(arrays["action"]))

        where = folder / f"examples-{opponent}-{wanted}-{seed}"
        found.append(load_or_build(where, "examples", "The set of examples", make, restore))
    return found


def split(collected: Sequence[Examples]) -> tuple[Examples, list[Examples]]:
    """Training examples, and test examples by opponent: the last ones, from hands not used in training."""
    training, testing = [], []
    rest = sum(len(each.action) for each in collected) // TEST_EVERY
    for place, each in enumerate(collected):
        tested = rest // (len(collected) - place)
        rest -= tested
        training.append(concatenate([each], slice(0, len(each.action) - tested)))
        testing.append(concatenate([each], slice(len(each.action) - tested, None)))
    return concatenate(training), testing


def concatenate(blocks: Sequence[Examples], some: slice = slice(None)) -> Examples:
    """The blocks concatenated, or a slice of that."""
    features = np.concatenate([block.features for block in blocks])[some]
    return Examples(features, np.concatenate([block.action for block in blocks])[some])


def public_accuracy(training: Examples, testing: Examples) -> float:
    """Accuracy of the most frequent training action given the public features of figures 5 to 7."""
    columns = feature_columns(PUBLIC)
    keys, place = np.unique(training.features[:, columns], axis=0, return_inverse=True)
    counts = np.zeros((len(keys), len(ACTIONS)), np.int64)
    np.add.at(counts, (place.ravel(), training.action), 1)
    guess = {key.tobytes(): int(best) for key, best in zip(keys, counts.argmax(axis=1), strict=True)}
    guesses = [guess.get(row.tobytes(), -1) for row in np.ascontiguousarray(testing.features[:, columns])]
    return float(np.mean(np.array(guesses) == testing.action))
