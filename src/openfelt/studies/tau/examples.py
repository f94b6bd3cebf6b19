"""TAU, section 5.1: the examples that its network is trained on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openfelt.arena.contest import FRESH, Contest, Setup
from openfelt.arena.hand_kernels import deal_block, who_sat
from openfelt.arena.match import Progress
from openfelt.bots.registry import load_bot
from openfelt.core.disk_cache import Made, keep
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
from openfelt.studies.tau.expansion import ExpandBot

SEARCHER, ITSELF = "mcts", "itself"
OPPONENTS = (ITSELF, "random", "always-raise")
THINKING = 100  # iterations a decision
BLOCK = 500  # hands between two looks at how many examples there are
TESTED = 16  # one example of so many is for testing: TAU's 20,000 of 320,000
PUBLIC = (MAX_NODE, AVAILABLE, STREET)  # of figures 5 to 7


def collect(
    opponent: str, features: Features, wanted: int, *, seed: int, progress: Progress = lambda _: None
) -> Examples:
    """Decisions of both seats in hands that the searcher won; in self-play, whichever of them won."""
    game = Holdem()
    searcher = ExpandBot(game, None, THINKING)
    other = ExpandBot(game, None, THINKING) if opponent == ITSELF else load_bot(opponent, game)
    contest = Contest(Setup(game.name, (SEARCHER, opponent), seed, FRESH), [searcher, other])
    blocks: list[Examples] = []
    have, first = 0, 0
    while have < wanted:
        blocks.append(_won_examples(contest, features, first, alone=opponent != ITSELF))
        progress(min(len(blocks[-1].action), wanted - have))
        have, first = have + len(blocks[-1].action), first + BLOCK
    return joined(blocks, slice(0, wanted))


def _won_examples(contest: Contest, features: Features, first: int, *, alone: bool) -> Examples:
    """Of a block of hands; `alone`: the searcher is the first participant only."""
    played, conduct = contest.play_hands(first, BLOCK)
    for name, each in zip(contest.lineup.names, conduct, strict=True):
        if each.told(name):
            raise FeltError(each.told(name))
    deals = deal_block(contest.game.players, contest.luck, first, BLOCK)
    won, sitting = played.won[:, 0], who_sat(contest.lineup.seatings, first, played)[:, 0]
    winner = np.argmax(won, axis=1)
    counts = won.max(axis=1) > 0
    if alone:
        counts &= sitting[np.arange(BLOCK), winner] == 0
    seat, leaf = np.where(counts, winner, -1), np.ascontiguousarray(played.leaf[:, 0])
    return hand_examples(features, deals.cards, deals.board, deals.permutation, leaf, seat)


def collect_all(
    features: Features, count: int, *, seed: int, folder: Path, progress: Progress = lambda _: None
) -> list[Examples]:
    """As many from each opponent; those that the folder has are not collected again."""
    found = []
    for place, opponent in enumerate(OPPONENTS):
        wanted = (count + len(OPPONENTS) - 1 - place) // len(OPPONENTS)

        def make(opponent: str = opponent, wanted: int = wanted) -> Made:
            return collect(opponent, features, wanted, seed=seed, progress=progress)._asdict(), {}

        def restore(arrays: dict[str, Any], _: object) -> Examples:
            return Examples(np.array(arrays["features"]), np.array(arrays["action"]))

        where = folder / f"examples-{opponent}-{wanted}-{seed}"
        found.append(keep(where, "examples", "The set of examples", make, restore))
    return found


def split(collected: Sequence[Examples]) -> tuple[Examples, list[Examples]]:
    """For training and for testing: of each opponent's the last are for testing, hands never seen before."""
    early, late = [], []
    rest = sum(len(each.action) for each in collected) // TESTED
    for place, each in enumerate(collected):
        tested = rest // (len(collected) - place)
        rest -= tested
        early.append(joined([each], slice(0, len(each.action) - tested)))
        late.append(joined([each], slice(len(each.action) - tested, None)))
    return joined(early), late


def joined(blocks: Sequence[Examples], some: slice = slice(None)) -> Examples:
    """These one after the other, or some of them all."""
    features = np.concatenate([block.features for block in blocks])[some]
    return Examples(features, np.concatenate([block.action for block in blocks])[some])


def by_public(training: Examples, testing: Examples) -> float:
    """How often the most frequent action of training, given what is public in figures 5 to 7, is right."""
    columns = feature_columns(PUBLIC)
    keys, place = np.unique(training.features[:, columns], axis=0, return_inverse=True)
    counts = np.zeros((len(keys), len(ACTIONS)), np.int64)
    np.add.at(counts, (place.ravel(), training.action), 1)
    guess = {key.tobytes(): int(best) for key, best in zip(keys, counts.argmax(axis=1), strict=True)}
    said = [guess.get(row.tobytes(), -1) for row in np.ascontiguousarray(testing.features[:, columns])]
    return float(np.mean(np.array(said) == testing.action))
