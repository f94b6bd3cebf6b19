"""The Bayes-relational model of Ponsen, Gerritsen & Chaslot 2010 (PGC10), after Ponsen et al. 2008.

It starts from a prior over actions, and learns a *differentiating function* P(D_p | x): the probability that
an example x is one of this player's and not one of the prior's, of which there are equally many. It is a
relational probability tree (`induction.py`), one for each phase. Then (equation 7)

    P(x | D_p) is proportional to P(x | D_*) P(D_p | x) / (1 - P(D_p | x)).

For actions, x is a decision with cards and action. PGC10 samples the action of a prior's example; here every
action is an example, weighted by the prior, which is the same without sampling noise. For cards, x is a
decision, the action taken there, and cards; the prior's cards are drawn from those that are possible. PGC10
does not give the settings of TILDE; ours are in `Growth`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import MALFORMED, load_folder
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import ACTIONS_MASK, FACING_SHIFT, KIND
from openfelt.games.game import AnyGame
from openfelt.opponents.models.domain import UNKNOWN
from openfelt.opponents.models.files import FOLDER, new_model
from openfelt.opponents.models.model import ROUNDS, OpponentModel
from openfelt.opponents.models.observed import Decisions, ObservedHand, all_decisions, decisions_in
from openfelt.opponents.models.public_tree import CLASSES
from openfelt.opponents.models.relational.compiled import TreeEvaluator, compile_trees, product
from openfelt.opponents.models.relational.fitting import (
    FEW_HOLDINGS,
    PRIOR_DRAWS,
    TreeFitter,
    WeightedDecisions,
    prior_cards,
)
from openfelt.opponents.models.relational.induction import Growth
from openfelt.opponents.models.relational.language import LanguageBias
from openfelt.opponents.models.relational.tree import (
    RelationalTree,
    TreeLeaf,
    indented,
    rules,
    tree_from,
    tree_to_save,
)
from openfelt.opponents.models.tree_arrays import TreeSearchModel

BAYES, TREE = "bayes", "tree"  # probabilities of cards: from the action trees, or from card trees
ACTION_TREES, CARD_TREES = "actions", "cards"


@dataclass(frozen=True)
class RelationalSettings:
    """How a model learns."""

    bias: LanguageBias = field(default_factory=LanguageBias)
    growth: Growth = field(default_factory=Growth)
    per_phase: bool = True  # a tree for each phase, else one for all
    cards: str = BAYES

    def __post_init__(self) -> None:
        if self.cards not in (BAYES, TREE):
            raise FeltError(f"Probabilities of cards come from '{BAYES}' or '{TREE}', not '{self.cards}'.")


class RelationalModel(OpponentModel):
    """Relational probability trees that correct a prior: uniform, or a fitted model."""

    kind = "relational"
    summary = "relational trees that correct a prior (PGC10)"

    def __init__(
        self,
        game: AnyGame,
        settings: RelationalSettings | None = None,
        *,
        prior: OpponentModel | None = None,
    ) -> None:
        super().__init__(game)
        if prior is not None and prior.domain is not self.domain:
            raise FeltError(
                f"The prior is a model of {prior.domain.game.name}, not of {self.domain.game.name}."
            )
        self.settings, self.prior = settings or RelationalSettings(), prior
        streets = len(self.domain.streets)
        self.action_trees: list[RelationalTree] = [TreeLeaf(0.0, 0.0)] * streets
        self.card_trees: list[RelationalTree] = [TreeLeaf(0.0, 0.0)] * streets
        self._changed()

    # Learning

    def fit(self, hands: Sequence[ObservedHand], *, seed: int = 0, rounds: int = ROUNDS) -> None:
        super().fit(hands, seed=seed, rounds=rounds)
        if self.settings.cards == TREE:
            self.fit_cards(hands, seed=seed)

    def learn(self, hand: ObservedHand) -> None:
        fitted = self._latest
        super().learn(hand)
        if self.settings.cards == TREE and self._latest is not fitted:
            self.fit_cards(self.hands)

    def fit_to(self, decisions: Decisions) -> None:
        prior = self._prior_shares(decisions.node, decisions.rank, decisions.holding)
        row, action = np.nonzero(prior > 0)
        # Actions that the prior excludes, but that the player took, are among the player's examples.
        odd = np.flatnonzero(prior[np.arange(len(prior)), decisions.action] <= 0)
        row, action = np.concatenate([row, odd]), np.concatenate([action, decisions.action[odd]])
        weight = decisions.weight[row]
        data = WeightedDecisions(
            decisions.places,
            decisions.place[row],
            action,
            np.where(action == decisions.action[row], weight, 0.0),
            prior[row, action] * weight,
            decisions.rank[row],
            decisions.holding[row],
        )
        self.action_trees = self._fitter.fit(data)
        self._changed()

    def fit_cards(self, hands: Sequence[ObservedHand], *, seed: int = 0, ask_action: bool = True) -> None:
        """Learn the trees of cards from hands; cards that were not shown are drawn by the model itself.

        PGC10's examples do not include the action that followed; without `ask_action`, neither do these.
        """
        generator = np.random.default_rng(seed)
        known = [hand if hand.holding != UNKNOWN else self._drawn(hand, generator) for hand in hands]
        decisions = all_decisions(self.domain, known)
        prior = prior_cards(self.domain, known, generator)
        place, action = decisions.place, decisions.action.astype(np.int64)
        data = WeightedDecisions(
            decisions.places,
            np.concatenate([place, place[prior.decision]]),
            np.concatenate([action, action[prior.decision]]),
            np.concatenate([np.ones(len(place)), np.zeros(len(prior.decision))]),
            np.concatenate([np.zeros(len(place)), prior.weight]),
            np.concatenate([decisions.rank, prior.rank]),
            np.concatenate([decisions.holding, prior.holding]),
        )
        noise = 0.0 if self.domain.holdings <= FEW_HOLDINGS else 1.0 / PRIOR_DRAWS
        self.card_trees = self._fitter.fit(data, noise=noise, ask_action=ask_action)
        self._changed()

    def _drawn(self, hand: ObservedHand, generator: np.random.Generator) -> ObservedHand:
        likely = self.bayes(hand)
        return hand._replace(holding=int(generator.choice(len(likely), p=likely)))

    @property
    def _fitter(self) -> TreeFitter:
        settings = self.settings
        return TreeFitter(self.domain, settings.bias, settings.growth, settings.per_phase, self._card_numbers)

    # Answers

    def shares(self, nodes: Longs, ranks: Longs, holdings: Longs) -> Floats:
        own = self._actions.shares(nodes, ranks, holdings)
        if self.prior is None:
            return own
        both = own * self.prior.shares(nodes, ranks, holdings)
        total = both.sum(axis=1, keepdims=True)
        return np.where(total > 0, both / np.maximum(total, 1e-300), own)

    def cards(self, hand: ObservedHand) -> Floats:
        return self.bayes(hand) if self.settings.cards == BAYES else self.cards_by_tree(hand)

    def cards_by_tree(self, hand: ObservedHand) -> Floats:
        """[holdings] P(cards | observations) by the card trees, at the last decision (equation 7)."""
        likely = self.domain.possible((*hand.board, *hand.dead))
        for node, _, street, action in list(decisions_in(self.domain.public, hand))[-1:]:
            ranks, count = self.domain.ranks(hand.board[: self.domain.board_cards[street]]), len(likely)
            likely = likely * self._cards.weights(np.full(count, node), ranks, np.arange(count))[:, action]
        return np.asarray(likely / likely.sum())

    def for_search(self) -> TreeSearchModel:
        ranks = self.domain.rank_tables
        grown = self._actions.everywhere()
        if self.prior is not None:
            theirs = self.prior.for_search()
            if not isinstance(theirs, TreeSearchModel):
                raise FeltError(f"Search needs a prior with trees; {self.prior.kind} has none.")
            grown = product(grown, theirs.grown)
        return TreeSearchModel(grown, ranks)

    # Words

    def rules(self, phase: int, what: str = ACTION_TREES) -> list[str]:
        """A phase's tree as a Prolog decision list."""
        return rules(self.tree(phase, what), self.settings.bias, self.settings.growth.m)

    def text(self, phase: int, what: str = ACTION_TREES) -> str:
        """A phase's tree as indented lines."""
        return indented(self.tree(phase, what), self.settings.bias, self.settings.growth.m)

    def describe(self) -> str:
        """All action trees, and card trees if they are used."""
        parts = [f"{name}, {what}:\n{self.text(phase, what)}" for phase, name, what in self.all_trees()]
        return "\n\n".join(parts)

    def all_trees(self) -> list[tuple[int, str, str]]:
        """Of each tree: its phase, the name of the phase, and its kind."""
        kinds = (ACTION_TREES, CARD_TREES) if self.settings.cards == TREE else (ACTION_TREES,)
        phases = enumerate(self.domain.streets if self.settings.per_phase else ("all phases",))
        return [(phase, name, what) for phase, name in phases for what in kinds]

    def tree(self, phase: int, what: str = ACTION_TREES) -> RelationalTree:
        """The tree of a phase."""
        if what not in (ACTION_TREES, CARD_TREES):
            raise FeltError(f"There are trees of {ACTION_TREES} and of {CARD_TREES}, not of '{what}'.")
        trees = self.action_trees if what == ACTION_TREES else self.card_trees
        if not 0 <= phase < len(trees):
            raise FeltError(f"{self.domain.game.name} has the phases 0 to {len(trees) - 1}, not {phase}.")
        return trees[phase]

    # Files

    def to_save(self) -> tuple[Mapping[str, NDArray[Any]], Mapping[str, Any]]:
        settings = self.settings
        facts: dict[str, Any] = {
            "bias": settings.bias.to_save(),
            "growth": asdict(settings.growth),
            "per_phase": settings.per_phase,
            "cards": settings.cards,
            "action_trees": [tree_to_save(tree) for tree in self._once(self.action_trees)],
            "card_trees": [tree_to_save(tree) for tree in self._once(self.card_trees)],
        }
        arrays: dict[str, NDArray[Any]] = {}
        if self.prior is not None:
            theirs, about = self.prior.to_save()
            facts["prior"] = {"kind": self.prior.kind, "model": dict(about)}
            arrays = {f"prior_{name}": array for name, array in theirs.items()}
        return arrays, facts

    def restore(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
        per_phase = bool(facts["per_phase"])
        self.settings = RelationalSettings(
            self.settings.bias.restored(facts["bias"]),
            Growth(**facts["growth"]),
            per_phase,
            str(facts["cards"]),
        )
        for name in ("action_trees", "card_trees"):
            trees = [tree_from(saved) for saved in facts[name]]
            if len(trees) != (len(self.domain.streets) if per_phase else 1):
                raise ValueError("number of trees")
            for tree in trees:
                indented(tree, self.settings.bias, self.settings.growth.m)  # raises if a test is malformed
            setattr(self, name, trees if per_phase else trees * len(self.domain.streets))
        if "prior" in facts:
            theirs = {name.removeprefix("prior_"): array for name, array in arrays.items()}
            self.prior = new_model(str(facts["prior"]["kind"]), self.domain.game)
            self.prior.restore(theirs, facts["prior"]["model"])
        self._changed()

    def _once(self, trees: Sequence[RelationalTree]) -> Sequence[RelationalTree]:
        return trees if self.settings.per_phase else trees[:1]

    # Parts

    def _changed(self) -> None:
        """Drop what was compiled from earlier trees."""
        for made in ("_actions", "_cards"):
            self.__dict__.pop(made, None)

    @cached_property
    def _card_numbers(self) -> Floats:
        return self.settings.bias.card_numbers(self.domain)

    @cached_property
    def _actions(self) -> TreeEvaluator:
        return self._answers(self.action_trees)

    @cached_property
    def _cards(self) -> TreeEvaluator:
        return self._answers(self.card_trees)

    def _answers(self, trees: Sequence[RelationalTree]) -> TreeEvaluator:
        bias = self.settings.bias
        compiled = compile_trees(trees, bias, self._card_numbers, self.settings.growth.m)
        return TreeEvaluator(self.domain, bias, compiled)

    def _prior_shares(self, nodes: Longs, ranks: Longs, holdings: Longs) -> Floats:
        """[decisions, CLASSES]."""
        if self.prior is not None:
            return self.prior.shares(nodes, ranks, holdings)
        kind = self.domain.public.node[nodes, KIND]
        num_actions, first = kind & ACTIONS_MASK, 1 - (kind >> FACING_SHIFT & 1)
        klass = np.arange(len(CLASSES))
        can = (klass >= first[:, None]) & (klass < (first + num_actions)[:, None])
        return np.asarray(can / num_actions[:, None])


def load_relational(folder: Path, bias: LanguageBias) -> RelationalModel:
    """Load a model that uses facts of your own, which `bias` defines."""
    arrays, manifest = load_folder(folder, FOLDER)
    try:
        if manifest["kind"] != RelationalModel.kind:
            raise FeltError(f"{folder} is a model of kind {manifest['kind']}, not {RelationalModel.kind}.")
        model = RelationalModel(str(manifest["game"]), RelationalSettings(bias))
        model.restore(arrays, manifest["model"])
    except MALFORMED:
        raise FileError(f"{folder} is damaged: its model cannot be read.") from None
    return model
