"""`fellomen-like`: a stand-in for FellOmen2, against which HS14 played. It is not FellOmen2.

Of the original it is published that Ian Fellows wrote it, that it plays an approximate equilibrium of
two-player limit hold'em learned by fictitious play, by one table of probabilities whoever sits opposite, and
that it came second, in a tie of three, in the AAAI-08 Computer Poker Competition (HS14). How it put hands
into buckets is not known to us.

Ours is learned by sampled fictitious play (`solve/sampling/sampled_fictitious_play.py`) in the real betting,
four bets a street, with all 169 kinds of hole cards before the flop and 50 buckets a street after it, of
equally many hands, by E[HS^2]. (`policy/pretrained/fellomen-like/README.md` has the command.)
"""

from __future__ import annotations

from openfelt.bots.policy_bot import HoldemBot
from openfelt.games.game import Game
from openfelt.policy.pretrained import shipped_policy

NAME = "fellomen-like"


class FellomenLike(HoldemBot):
    """Plays what fictitious play learned."""

    def __init__(self, game: Game) -> None:
        super().__init__(shipped_policy(NAME), game)
