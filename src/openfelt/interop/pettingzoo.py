"""Our games as PettingZoo environments (AEC). Needs the extra `pettingzoo`.

>>> from openfelt.interop import pettingzoo
>>> env = pettingzoo.env("leduc")
>>> env.reset(seed=1)
>>> env.agent_selection, env.last()[0]["action_mask"]
('player_0', array([1, 1, 0, 0, 0], dtype=int8))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.core.errors import FeltError
from openfelt.games.game import AnyGame
from openfelt.interop.play import Play

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError:
    raise FeltError(
        "PettingZoo environments need pettingzoo, which is not installed: pip install 'openfelt[pettingzoo]'."
    ) from None


def env(game: AnyGame = "leduc", **options: Any) -> Any:
    """An environment with PettingZoo's usual wrappers: an illegal action ends the game.

    Parameters
    ----------
    game : Game, str or Path
        Any game: kuhn, leduc, holdem, "holdem(players=3)", "goofspiel(4)", "bluff(1,1,6)", ...
    **options
        Those of `FeltAEC`.

    Returns
    -------
    AECEnv
    """
    made = FeltAEC(game, **options)
    wrapped = wrappers.TerminateIllegalWrapper(made, illegal_reward=-1.0)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


class FeltAEC(AECEnv):  # type: ignore[misc]
    """One hand of a game. Agents are `player_0`, `player_1`, ...; rewards are payoffs, at the end.

    Observations are dictionaries: `observation` is the vector of `felt.features`, `action_mask` the legal
    actions, numbered as in `felt.features(game).actions`.

    Parameters
    ----------
    game : Game, str or Path
        Any game.
    bots : mapping from int to str or Bot, optional
        Seats that our bots play; the others are the agents.
    render_mode : {"ansi", "human"}, optional
        Return or print all actions of the hand.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "openfelt_v0",
        "render_modes": ["ansi", "human"],
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        game: AnyGame = "leduc",
        *,
        bots: Mapping[int, str | Bot] | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self._play = Play(game)
        self._bots = {seat: self._play.load(bot) for seat, bot in (bots or {}).items()}
        seats = range(self._play.game.players)
        if not set(self._bots) <= set(seats) or len(self._bots) == len(seats):
            raise FeltError(f"Bots take some of the seats 0 to {len(seats) - 1}, not {sorted(self._bots)}.")
        self.render_mode = render_mode
        self._seats = {f"player_{seat}": seat for seat in seats if seat not in self._bots}
        self.possible_agents = list(self._seats)
        size, actions = self._play.layout.size, len(self._play.layout.actions)
        space = {
            "observation": spaces.Box(0.0, 1.0, (size,), np.float32),
            "action_mask": spaces.Box(0, 1, (actions,), np.int8),
        }
        self.observation_spaces = {agent: spaces.Dict(space) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Any:
        """The space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new hand."""
        self._play.seed(seed)
        self._play.begin(self._bots)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = f"player_{self._play.hand.mover}"

    def observe(self, agent: str) -> dict[str, Any]:
        """What an agent knows, and its legal actions if it is to move."""
        return self._play.observation(self._seats[agent])

    def step(self, action: int | None) -> None:
        """Take an action for the agent to move."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None or not self._play.mask(self._seats[agent])[action]:
            raise FeltError(f"Action {action} is illegal; the observation's action_mask has the legal ones.")
        self._cumulative_rewards[agent] = 0.0
        self._play.act(int(action))
        self._clear_rewards()
        if self._play.is_over:
            won = self._play.hand.payoffs
            self.rewards = {each: float(won[seat]) for each, seat in self._seats.items()}
            self.terminations = dict.fromkeys(self.agents, True)
            following = self.agents.index(agent) + 1
            self.agent_selection = self.agents[following % len(self.agents)]
        else:
            self.agent_selection = f"player_{self._play.hand.mover}"
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """All actions of the hand, with those of chance."""
        if self.render_mode != "human":
            return self._play.text()
        print(self._play.text())
        return None

    def close(self) -> None:
        """Nothing is open."""
