"""What the neural solvers share: the loop over games and updates, and checkpoints.

An iteration plays `steps` steps in each of `games` games, and then updates the networks with the games that
ended. All random numbers come from the seed, and everything that a later iteration depends on is in the
checkpoint: so on the CPU a run is the same to the bit, however it is divided.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from openfelt.core.devices import DEVICES
from openfelt.core.errors import FeltError, FileError
from openfelt.core.jit import Floats
from openfelt.core.pytorch import require_torch, torch, torch_device
from openfelt.core.random import starts
from openfelt.core.workers import Workers, is_cluster
from openfelt.games.compile.compiler import compile_infosets
from openfelt.games.compile.tree import Tree
from openfelt.games.features.enumerated import EnumeratedFeatures
from openfelt.games.features.features import Vectors, features
from openfelt.games.game import AnyGame
from openfelt.games.registry import load_game
from openfelt.solve.environments.vector_env import VectorEnv
from openfelt.solve.neural.episodes import Bytes, Decisions, Recorder
from openfelt.solve.neural.inputs import Inputs
from openfelt.solve.neural.network import Network
from openfelt.solve.solver import Settings, Solver, setting, within
from openfelt.solve.traverse.open_tree import most_decisions

MOST_UNITS, MOST_LAYERS, MOST_GAMES, MOST_SAMPLES = 65_536, 16, 1 << 20, 1 << 31


@dataclass(frozen=True)
class NetworkSettings(Settings):
    """The parameters that all neural solvers have."""

    hidden: int = setting(256, "units of each hidden layer", kind=int)
    layers: int = setting(1, "hidden layers", kind=int)
    rate: float = setting(3e-3, "step size of Adam")

    def __post_init__(self) -> None:
        within("hidden", self.hidden, 1, MOST_UNITS)
        within("layers", self.layers, 1, MOST_LAYERS)
        within("rate", self.rate, 0, 1)


@dataclass(frozen=True)
class PlaySettings(NetworkSettings):
    """The parameters of solvers that learn from games played."""

    games: int = setting(1024, "games played at once", kind=int)
    steps: int = setting(16, "decisions in each game between two updates", kind=int)
    anneal: float = setting(100.0, "iteration t divides rates by the square root of 1 + t / ANNEAL")

    def __post_init__(self) -> None:
        super().__post_init__()
        within("anneal", self.anneal, 1, 1e12)
        within("games", self.games, 1, MOST_GAMES)
        within("steps", self.steps, 1, 10_000)


class NeuralSolver(Solver):
    """Base of the solvers that train networks."""

    runs_on_gpu: ClassVar[bool] = True
    uses_buckets: ClassVar[bool] = False
    settings: Any
    first_measurement: ClassVar[int] = 10

    def _compile(self, game: AnyGame) -> Tree:
        self.rules = load_game(game)
        return compile_infosets(game)

    @classmethod
    def check_device(cls, device: str, in_flight: int | None, workers: Workers = 1) -> str:
        require_torch()
        if is_cluster(workers):
            raise FeltError(f"{cls.name} does not train on a cluster.")
        if in_flight is not None:
            raise FeltError(f"{cls.name} has no in_flight; set games instead.")
        if device not in DEVICES:
            raise FeltError(f"device must be {', '.join(DEVICES[:-1])} or {DEVICES[-1]}, not {device}.")
        return torch_device(device)

    @classmethod
    def _why_cpu(cls) -> str:
        return "PyTorch finds no GPU on this machine."

    @property
    def gpu(self) -> str:
        return str(torch.cuda.get_device_name())

    def _start(self) -> None:
        if self.restriction is not None:
            raise FeltError(f"{self.name} does not support restricted games.")
        torch.set_num_threads(self.threads)
        self.inputs = self._inputs()
        self.stream = starts(self.seed, 3)[2:].copy()  # the first two are those of the games
        self._tensors: dict[str, Any] = {}
        self._arrays: dict[str, NDArray[Any]] = {"stream": self.stream}
        self._limits: list[tuple[str, NDArray[Any], int, int]] = []
        self._build()
        self._mirror = {key: tensor.cpu().numpy() for key, tensor in self._tensors.items()}

    def _inputs(self) -> Inputs:
        layout = features(self.rules)
        assert isinstance(layout, EnumeratedFeatures)
        return Inputs(layout, self.device)

    @abstractmethod
    def _build(self) -> None:
        """Create networks and memories, and register them for checkpoints by `keep` and `new_network`."""

    @abstractmethod
    def _iterate(self, number: int) -> None:
        """One iteration; they are numbered from 0."""

    def new_network(self, name: str, outputs: int | None = None) -> Network:
        """A network of all vectors, by default with one output per action."""
        settings = self.settings
        sizes = [self.inputs.size, *[settings.hidden] * settings.layers, outputs or self.inputs.num_actions]
        made = Network(sizes, [self.seed, *name.encode()], self.device)
        self._tensors |= {f"{name}.{key}": tensor for key, tensor in made.state().items()}
        return made

    def keep(self, name: str, arrays: dict[str, NDArray[Any]]) -> None:
        """Register arrays, which are changed in place, for checkpoints."""
        self._arrays |= {f"{name}.{key}": array for key, array in arrays.items()}

    def limit(self, name: str, array: NDArray[Any], low: int, high: int) -> None:
        """Require that numbers of a checkpoint that kernels use as indices are from `low` to below `high`."""
        self._limits.append((name, array, low, high))

    def _advance(self, iterations: int) -> None:
        for number in range(self.iterations, self.iterations + iterations):
            self._iterate(number)

    def tables(self) -> dict[str, NDArray[Any]]:
        for key, tensor in self._tensors.items():
            self._mirror[key][...] = tensor.cpu().numpy()
        return {**self._arrays, **self._mirror}

    def _resumed(self) -> None:
        for name, array, low, high in self._limits:
            if array.size and not low <= array.min() <= array.max() < high:
                raise FileError(f"The checkpoint is damaged: its table '{name}' has numbers out of range.")
        for key, table in self._mirror.items():
            if not np.isfinite(table).all():
                raise FileError(f"The checkpoint is damaged: its table '{key}' is not finite.")
        with torch.no_grad():
            for key, tensor in self._tensors.items():
                tensor.copy_(torch.from_numpy(self._mirror[key]))

    def slots(self, table: NDArray[Any]) -> Floats:
        """[slots] from [infosets, actions]."""
        layout = self.inputs.layout
        row, number = np.nonzero(layout.places >= 0)
        found = np.empty(self.tree.num_slots)
        found[layout.tree.first_slot[row] + layout.places[row, number]] = table[row, number]
        return found


class PlayingSolver(NeuralSolver):
    """Base of the solvers that learn from games played by the current policies."""

    @cached_property
    def _depth(self) -> int:
        """The most decisions of a game."""
        return most_decisions(self.tree)

    def _build(self) -> None:
        settings = self.settings
        self.env = VectorEnv(self.rules, settings.games, seed=self.seed)
        self.recorder = Recorder(settings.games, self._depth, settings.steps, self.rules.players)
        self.keep("inputs", self.inputs.state())
        self.keep("env", self.env.state())
        games = self.recorder.state()
        self.keep("games", games)
        self.limit("games.infoset", games["infoset"], 0, self.inputs.rows)
        self.limit("games.action", games["action"], 0, self.inputs.num_actions)
        self.limit("games.player", games["player"], 0, self.rules.players)
        self.limit("games.length", games["length"], 0, self._depth)
        self._unmarked = np.zeros(settings.games, np.int8)

    def _resumed(self) -> None:
        super()._resumed()
        if not self.env.is_possible():
            raise FileError("The checkpoint is damaged: its games in progress are impossible.")

    def annealed(self, number: int) -> float:
        """The factor of rates and of regularisation, which falls with the root of iterations."""
        return float((1 + number / self.settings.anneal) ** -0.5)

    @property
    def environment_steps(self) -> int:
        """Decisions taken in all games so far."""
        return int(self.iterations * self.settings.games * self.settings.steps)

    def _play(self) -> Decisions:
        """Take some steps in each game; returns the decisions of those that ended."""
        env, recorder = self.env, self.recorder
        for _ in range(self.settings.steps):
            probabilities, marks = self._act()
            actions = env.sample(probabilities)
            recorder.note(self.inputs.note(env), actions, env.players, marks, probabilities)
            env.step(actions)
            recorder.close(env.dones, env.rewards)
            self._stepped()
        return recorder.take()

    @abstractmethod
    def _act(self) -> tuple[Vectors, Bytes]:
        """[games, actions] probabilities at the current decisions, and a mark for each decision."""

    def _stepped(self) -> None:
        """Called after each step."""
