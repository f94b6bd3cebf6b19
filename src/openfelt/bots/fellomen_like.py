"""`fellomen-like`: a stand-in for FellOmen2, an opponent of HS14. It is not FellOmen2.

The original, by Ian Fellows, plays an approximate equilibrium of two-player limit hold'em learned by
fictitious play: one fixed policy against every opponent. It shared the second place with two other programs
in the AAAI-08 Computer Poker Competition (HS14). Its abstraction is not known to us.

Ours is learned by sampled fictitious play (`solve/sampling/sampled_fictitious_play.py`) with four bets a
street as in the full game, all 169 classes of hole cards before the flop, and 50 equal-sized buckets a street
after it, by E[HS^2]. (`policy/pretrained/fellomen-like/README.md` has the command.)
"""

from __future__ import annotations

from openfelt.bots.policy_bot import HoldemBot
from openfelt.games.game import Game
from openfelt.policy.pretrained import shipped_policy

NAME = "fellomen-like"


class FellomenLike(HoldemBot):
    """Plays a policy learned by fictitious play."""

    def __init__(self, game: Game) -> None:
        super().__init__(shipped_policy(NAME), game)
