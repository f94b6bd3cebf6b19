"""Review of finished hands: replay, ranges of the bots, EV losses, luck-adjusted winnings."""
