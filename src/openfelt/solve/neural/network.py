"""A small network and its optimiser, whose whole state is a few arrays of a checkpoint.

All parameters are views of one vector, and so are their gradients: Adam takes one step on one vector, and
a checkpoint has three arrays instead of a pickled object.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from openfelt.core.pytorch import torch
from openfelt.policy.perceptron import Perceptron

LAST_SCALE = 0.1  # of the initial weights of the last layer: the first policy is close to uniform
RIDGE = 1e-5  # of the regression of the last layer, as a share of the mean square of its inputs


class Network:
    """A multilayer perceptron with rectified linear units, trained by Adam (Kingma & Ba 2015).

    Parameters
    ----------
    sizes : list of int
        Inputs, units of the hidden layers, outputs.
    seed : sequence of int
        Of the initial weights, which are the same on all devices.
    device : str
        Of the weights.
    """

    def __init__(self, sizes: list[int], seed: list[int], device: str) -> None:
        self.sizes = sizes
        shapes = [shape for inputs, units in pairwise(sizes) for shape in ((inputs, units), (units,))]
        total = sum(int(np.prod(shape)) for shape in shapes)
        self.vector = torch.zeros(total, device=device, requires_grad=True)
        self.vector.grad = torch.zeros(total, device=device)
        self.parameters, at = [], 0
        for shape in shapes:
            until = at + int(np.prod(shape))
            one = self.vector.detach()[at:until].view(shape).requires_grad_()
            one.grad = self.vector.grad[at:until].view(shape)
            self.parameters.append(one)
            at = until
        self.optimiser = torch.optim.Adam([self.vector], fused=True)
        self.optimiser.step()  # creates its state
        self.restart(seed)

    def restart(self, seed: list[int]) -> None:
        """Draw the weights anew, and forget what Adam has accumulated."""
        random, start = np.random.default_rng(seed), []
        for layer, (inputs, units) in enumerate(pairwise(self.sizes)):
            bound = np.sqrt(6 / inputs) * (LAST_SCALE if layer == len(self.sizes) - 2 else 1.0)
            start += [random.uniform(-bound, bound, inputs * units), np.zeros(units)]
        with torch.no_grad():
            self.vector.copy_(torch.from_numpy(np.concatenate(start)))
        for tensor in self.optimiser.state[self.vector].values():
            tensor.zero_()

    def __call__(self, inputs: Any) -> Any:
        """[batch, outputs]."""
        weight, bias = self.parameters[-2:]
        return torch.addmm(bias, self.hidden(inputs), weight)

    def hidden(self, inputs: Any) -> Any:
        """[batch, units] of the last hidden layer."""
        for weight, bias in zip(self.parameters[:-2:2], self.parameters[1:-2:2], strict=True):
            inputs = torch.relu(torch.addmm(bias, inputs, weight))
        return inputs

    def copy(self, other: Network, share: float = 1.0) -> None:
        """Move the weights to those of another network of the same sizes, by a share of the way."""
        with torch.no_grad():
            self.vector.lerp_(other.vector, share)

    def perceptron(self) -> Perceptron:
        """The same function without PyTorch."""
        arrays = [tensor.detach().cpu().numpy().copy() for tensor in self.parameters]
        return Perceptron(tuple(arrays[::2]), tuple(arrays[1::2]))

    def state(self) -> dict[str, Any]:
        """The tensors of a checkpoint."""
        adam = self.optimiser.state[self.vector]
        return {"weights": self.vector.detach(), **{key: adam[key] for key in sorted(adam)}}


class LastLayer:
    """Moves a network's outputs by weighted ridge regression on its last hidden layer.

    Outputs are linear in the weights of the last layer, so this solves in closed form what gradient descent
    approaches slowly where infosets have similar vectors. It needs double precision: with a ridge that single
    precision can bear, outputs of similar infosets move too slowly.

    Parameters
    ----------
    network : Network
        Of which the last layer is changed, and no other.
    inputs : tensor
        [n, inputs].
    weights : tensor
        [n, 1] of the squared errors.
    """

    def __init__(self, network: Network, inputs: Any, weights: Any) -> None:
        self._network = network
        with torch.no_grad():
            units = torch.nn.functional.pad(network.hidden(inputs), (0, 1), value=1.0).double()
            self._weighted = (weights * units).T
            gram = self._weighted @ units
            gram.diagonal().add_(RIDGE * gram.diagonal().mean())
            self._factor = torch.linalg.cholesky(gram)

    def move(self, change: Any) -> None:
        """Change the outputs, [n, outputs], by about this much."""
        weight, bias = self._network.parameters[-2:]
        with torch.no_grad():
            step = torch.cholesky_solve(self._weighted @ change.double(), self._factor)
            weight += step[:-1]
            bias += step[-1]


def descend(loss: Any, rates: dict[Network, float]) -> None:
    """One step of Adam down the gradient of a loss, for networks with their step sizes."""
    for network in rates:
        network.vector.grad.zero_()
    loss.backward()
    for network, rate in rates.items():
        network.optimiser.param_groups[0]["lr"] = rate
        network.optimiser.step()


def log_policy(logits: Any, masks: Any) -> Any:
    """[batch, actions] logarithms of the softmax over legal actions; a large negative number elsewhere."""
    return torch.log_softmax(torch.where(masks, logits, -1e9), dim=-1)


def centred(values: Any, masks: Any) -> Any:
    """[batch, actions] the differences from the mean over legal actions; 0 elsewhere."""
    mean = torch.where(masks, values, 0.0).sum(1, keepdim=True) / masks.sum(1, keepdim=True)
    return torch.where(masks, values - mean, 0.0)
