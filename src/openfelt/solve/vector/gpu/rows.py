"""What a player has learned at a root of a street after the flop: rows of 16 numbers.

A player has five decisions on a street (`betting_lines.py`): its first one, check or bet, and the bets that
it answers, two in each raise sequence. Action a of decision d is at 3 d + a of the row. The decision that
answers the bet of line l is number 1 + (l - 1) // 2, whichever player answers it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.core.cuda_build import cuda
from openfelt.games.holdem import MOST_BETS
from openfelt.solve.vector.betting_lines import LINES

ROW, DECISIONS = 16, 5

# These are set when a kernel is built.
OPENS = True  # whether the player acts first
BETS = MOST_BETS  # of a street


def answers(line: Any, opens: Any) -> Any:
    """Whether a player answers the bet of a line."""
    even = line % 2 == 0
    return (even == opens) if line > MOST_BETS else (even != opens)


def matched(regrets: Any, one: Any, two: Any, first: Any, actions: Any) -> Any:
    """The probabilities of three actions by regret matching; that of the third is 0 if there are two."""
    zero = np.float32(0.0)
    a = max(regrets[one, two, first], zero)
    b = max(regrets[one, two, first + 1], zero)
    c = max(regrets[one, two, first + 2], zero) if actions > 2 else zero
    total = a + b + c
    if total > zero:
        return a / total, b / total, c / total
    each = np.float32(1.0) / np.float32(actions)
    return each, each, each if actions > 2 else zero


def match_row(regrets: Any, one: Any, two: Any, policy: Any, i: Any, j: Any) -> None:
    """Write the policy of a row, by regret matching."""
    p = matched(regrets, one, two, 0, 2)
    policy[i, j, 0], policy[i, j, 1] = p[0], p[1]
    for decision in range(1, DECISIONS):
        # Of the bets that a player answers in a sequence, the first is an odd or an even one.
        begins = (decision > 2) == OPENS
        bet = (2 if begins else 1) + (decision - 1) % 2 * 2
        p = matched(regrets, one, two, 3 * decision, 3 if bet < BETS else 2)
        for action in range(3):
            policy[i, j, 3 * decision + action] = p[action]


def share_lines(policy: Any, i: Any, j: Any, share: Any, before: Any) -> None:
    """The player's share of each line, and of each decision `before` it is made."""
    one = np.float32(1.0)
    check, bet = policy[i, j, 0], policy[i, j, 1]
    share[0], before[0] = check, one
    for sequence in range(2):
        begins = (sequence == 1) == OPENS
        here = bet if begins else check if OPENS else one
        for number in range(1, MOST_BETS + 1):
            line = sequence * MOST_BETS + number
            if (number % 2 == 1) != begins:  # the player answers
                decision = 1 + (line - 1) // 2
                before[decision] = here
                share[line] = here * policy[i, j, 3 * decision + 1]
                here = here * policy[i, j, 3 * decision + 2]
            else:
                share[line] = here


def renew(regrets: Any, average: Any, came: Any, weight: Any, policy: Any, shares: Any) -> None:
    """Add the policy to the average, weighted with the reach that came, and match the regrets again.

    A thread for each row; `came` [roots, buckets] is emptied.
    """
    share, before = cuda.local.array(LINES, np.float32), cuda.local.array(DECISIONS, np.float32)
    buckets = regrets.shape[1]
    for at in range(cuda.grid(1), regrets.shape[0] * buckets, cuda.gridsize(1)):
        root, bucket = at // buckets, at % buckets
        total = came[root, bucket] * weight
        if total > np.float32(0.0):
            share_lines(policy, root, bucket, share, before)
            for decision in range(DECISIONS):
                for action in range(3):
                    place = 3 * decision + action
                    average[root, bucket, place] += total * before[decision] * policy[root, bucket, place]
        came[root, bucket] = np.float32(0.0)
        match_row(regrets, root, bucket, policy, root, bucket)
        share_lines(policy, root, bucket, share, before)
        for line in range(LINES):
            shares[root, bucket, line] = share[line]
