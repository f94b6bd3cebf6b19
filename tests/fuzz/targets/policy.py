"""Saved policies of enumerated games and of hold'em."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fuzz.target import Finding, Mutant
from fuzz.targets.folders import FolderTarget, array_in, require_sealed
from openfelt.policy.files import load_policy, save_policy
from openfelt.policy.rules import rule_policy
from openfelt.policy.tabular import random_policy

GAMES = ("kuhn", "leduc", "kuhn(players=3)")
HOLDEM = "holdem(buckets='ehs:1')"


class PolicyTarget(FolderTarget):
    """Policies of small games."""

    name = "policy"

    def prepare(self) -> None:
        for number, game in enumerate(GAMES):
            folder = self.folder / f"sample-{number}"
            save_policy(random_policy(game, number), folder, made_by={"iterations": 3, "seconds": 0.5})
            self.add_folder(folder)

    def read_folder(self, folder: Path, sample: int) -> Any:
        policy = load_policy(folder)
        return policy.game, policy.table.tobytes()

    def rule(self, mutant: Mutant, content: Any) -> str:
        require_sealed(mutant)
        table = np.frombuffer(content[1])
        if not np.array_equal(array_in(mutant, "probabilities").astype(float), table):
            raise Finding("the probabilities are not those of the file")
        if (table < 0).any() or content[0] != self.contents[mutant.sample][0]:
            raise Finding("these are not the probabilities of the game")
        return "another policy with valid checksums and probabilities"


class HoldemPolicyTarget(FolderTarget):
    """A policy of hold'em with one bucket on each street."""

    name = "holdem-policy"
    share = 0.3

    def prepare(self) -> None:
        folder = self.folder / "sample"
        save_policy(rule_policy(HOLDEM, "always-call"), folder)
        self.add_folder(folder)

    def read_folder(self, folder: Path, sample: int) -> Any:
        policy = load_policy(folder)
        return policy.game, policy.table.tobytes(), policy.tree.fingerprint

    def rule(self, mutant: Mutant, content: Any) -> str:
        require_sealed(mutant)
        if array_in(mutant, "weights").tobytes() != content[1] or content[2] != self.contents[0][2]:
            raise Finding("the weights are not those of the file")
        return "another policy with valid checksums and weights"
