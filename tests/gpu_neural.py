"""Training networks on a GPU: cases of `gpu_cases.py`, which pass where PyTorch finds no GPU."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

import openfelt as felt
from openfelt.core.pytorch import torch

SOLVERS = (
    (felt.MMD, "holdem", {"hidden": 16, "games": 16}),
    (felt.PPO, "holdem", {"hidden": 16, "games": 16, "layers": 2}),
    (felt.RNaD, "holdem", {"hidden": 16, "games": 16}),
    (felt.MMD, "kuhn", {"hidden": 16, "games": 16}),
    (felt.PPO, "kuhn", {"hidden": 16, "games": 16}),
    (felt.RNaD, "kuhn", {"hidden": 16, "games": 16}),
    (felt.NFSP, "kuhn", {"hidden": 16, "games": 16}),
    (felt.DeepCFR, "kuhn", {"hidden": 16, "traversals": 20}),
)


def weights_of(solver):
    """All weights of its networks, one after another."""
    tables = solver.tables()
    return np.concatenate([tables[name].ravel() for name in sorted(tables) if name.endswith(".weights")])


def networks_are_trained_as_on_the_cpu(folder, there="cuda"):
    """The first iteration, and one more after a checkpoint has moved to the other device."""
    if there == "cuda" and (find_spec("torch") is None or not torch.cuda.is_available()):
        return
    for number, (kind, game, settings) in enumerate(SOLVERS):
        found = {}
        for device, other in (("cpu", there), (there, "cpu")):
            solver = kind(game, seed=1, device=device, **settings).run(1)
            found[device, 1] = weights_of(solver)
            path = folder / f"{number}-{device}"
            solver.save(path)
            moved = kind(game, seed=1, device=other, **settings)
            moved.resume(path)
            np.testing.assert_array_equal(weights_of(moved), weights_of(solver))
            found[device, 2] = weights_of(moved.run(1))
            assert moved.policy.fingerprint or game != "holdem"
        for iterations in (1, 2):  # Adam divides by the size of gradients, which may be mere rounding
            one, two = found["cpu", iterations], found[there, iterations]
            assert np.isfinite(two).all()
            assert np.quantile(abs(one - two), 0.9) < 1e-3


NEURAL = {networks_are_trained_as_on_the_cpu.__name__: networks_are_trained_as_on_the_cpu}
