"""Our games as Gymnasium environments, with our bots as opponents. Needs the extra `gymnasium`.

>>> import gymnasium
>>> import openfelt.interop.gymnasium  # registers OpenFelt/Leduc-v0 and others
>>> env = gymnasium.make("OpenFelt/Leduc-v0", opponents="equilibrium", seat=0)
>>> observation, info = env.reset(seed=1)
>>> observation["observation"].shape, info["action_mask"]
((34,), array([1, 1, 0, 0, 0], dtype=int8))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.core.errors import FeltError
from openfelt.games.game import AnyGame
from openfelt.interop.play import Play

try:
    import gymnasium
    from gymnasium import spaces
except ImportError:
    raise FeltError(
        "Gymnasium environments need gymnasium, which is not installed: pip install 'openfelt[gymnasium]'."
    ) from None

REGISTERED = {
    "Kuhn": "kuhn",
    "Leduc": "leduc",
    "LimitHoldem": "holdem",
    "LimitHoldem3": "holdem(players=3)",
    "Goofspiel": "goofspiel(5)",
    "Bluff": "bluff(1,1,6)",
}


class FeltEnv(gymnasium.Env):  # type: ignore[misc]
    """A game for one learner; our bots play the other seats. An episode is one hand.

    The observation has the vector of `felt.features` and the mask of legal actions, which `info` has too. The
    reward is the learner's payoff, at the end. In place of an illegal action the first legal one is taken, as
    in matches, and `info["illegal"]` is True. Hands that end before the learner acts are not shown.

    Parameters
    ----------
    game : Game, str or Path
        Any game.
    opponents : str, Bot, or a sequence of them
        One for all other seats, or one for each.
    seat : int, optional
        The learner's seat; by default it is drawn for each hand.
    render_mode : {"ansi"}, optional
        `render` returns all actions of the hand.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        game: AnyGame = "leduc",
        *,
        opponents: str | Bot | Sequence[str | Bot] = "random",
        seat: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self._play = Play(game)
        others = self._play.game.players - 1
        given = [opponents] * others if isinstance(opponents, str | Bot) else list(opponents)
        if len(given) != others or (seat is not None and not 0 <= seat <= others):
            name = self._play.game.name
            raise FeltError(f"{name} has seats 0 to {others}: one learner and {others} opponents.")
        self._opponents = [self._play.load(bot) for bot in given]
        self._chosen_seat, self.seat, self.render_mode = seat, seat or 0, render_mode
        size, actions = self._play.layout.size, len(self._play.layout.actions)
        self.observation_space = spaces.Dict(
            {
                "observation": spaces.Box(0.0, 1.0, (size,), np.float32),
                "action_mask": spaces.Box(0, 1, (actions,), np.int8),
            }
        )
        self.action_space = spaces.Discrete(actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a new hand."""
        super().reset(seed=seed)
        self._play.seed(None if seed is None else int(self.np_random.integers(1 << 63)))
        players = self._play.game.players
        drawn = int(self._play.generator.integers(players))
        self.seat = drawn if self._chosen_seat is None else self._chosen_seat
        seats = [seat for seat in range(players) if seat != self.seat]
        self._play.begin(dict(zip(seats, self._opponents, strict=True)))
        return self._play.observation(self.seat), self._info(True)

    def step(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Take an action; the opponents act until the learner is to move again or the hand is over."""
        if self._play.is_over:
            raise FeltError("The hand is over; call reset.")
        legal = self._play.act(int(action))
        reward = float(self._play.hand.payoffs[self.seat]) if self._play.is_over else 0.0
        return self._play.observation(self.seat), reward, self._play.is_over, False, self._info(legal)

    def _info(self, legal: bool) -> dict[str, Any]:
        return {"action_mask": self._play.mask(self.seat), "illegal": not legal}

    def render(self) -> str:
        """All actions of the hand, with those of chance."""
        return self._play.text()


for _name, _game in REGISTERED.items():
    gymnasium.register(f"OpenFelt/{_name}-v0", f"{__name__}:FeltEnv", kwargs={"game": _game})
