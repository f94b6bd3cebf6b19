"""CFR-BR before the river on a GPU: a block of threads for each board and root, or for each board.

A board is a flop and a turn, dealt before everything else: a hand is possible on it, before the flop too, if
it holds none of the four cards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.cards.boards import PERMUTED_PAIR
from openfelt.cards.deck import CARDS as DECK, PAIR, PAIR_CARDS, PAIRS
from openfelt.core.cuda_build import cuda
from openfelt.games.holdem import MOST_BETS
from openfelt.solve.vector.betting_lines import LINES
from openfelt.solve.vector.gpu.plan import CARDS, NUMBER, THROUGH, TURN
from openfelt.solve.vector.gpu.rows import DECISIONS, answers, match_row, share_lines
from openfelt.solve.vector.gpu.terms import PAID, PAID_ASIDE, PAID_LAST, PAID_NEXT
from openfelt.solve.vector.streets import EXIT

# These are set when a kernel is built.
OPENS = True  # whether the player whose values are computed acts first
BETS = MOST_BETS  # of a street
PLAYER = 0  # whose values are computed

MOST_NODES, MOST_ENDS = 40, 12  # before the flop; of them, those where a player folds


def deal(
    live: Any, plan: Any, flop: Any, turn: Any, trunk: Any, our_flop: Any, our_turn: Any, their_flop: Any
) -> None:
    """[boards, 1326] our buckets on flop and turn, and the opponent's row on the flop; -1 if impossible."""
    board, boards = cuda.blockIdx.x, cuda.gridDim.x
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
        lives = live[low] and live[high]
        for place in range(4):
            card = plan[CARDS, 3 * board + place] if place < 3 else plan[TURN, board]
            lives = lives and card != low and card != high
        our_flop[board, pair] = our_turn[board, pair] = their_flop[board, pair] = -1
        if lives:
            seen = PERMUTED_PAIR[plan[THROUGH, board], pair]
            our_flop[board, pair] = flop[plan[NUMBER, board], seen]
            their_flop[board, pair] = trunk[plan[NUMBER, board], seen]
            seen = PERMUTED_PAIR[plan[THROUGH, boards + board], pair]
            our_turn[board, pair] = turn[plan[NUMBER, boards + board], seen]


def go_down(bucket: Any, shares: Any, reach: Any, below: Any) -> None:
    """Our reach of the next street's roots, by the shares of our buckets."""
    roots = reach.shape[1]
    board, root = cuda.blockIdx.x // roots, cuda.blockIdx.x % roots
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        own = bucket[board, pair]
        for line in range(LINES):
            part = np.float32(0.0)
            if own >= 0:
                part = reach[board, root, pair] * shares[root, own, line]
            below[board, line * roots + root, pair] = part


def go_down_trunk(rows: Any, regrets: Any, reach: Any, policy: Any, below: Any) -> None:
    """The same for the opponent on the flop; its policy [boards * roots, 1326, ROW] is matched first."""
    roots = reach.shape[1]
    board, root = cuda.blockIdx.x // roots, cuda.blockIdx.x % roots
    share, before = cuda.local.array(LINES, np.float32), cuda.local.array(DECISIONS, np.float32)
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        row = rows[board, pair]
        if row >= 0:
            match_row(regrets, root, row, policy, cuda.blockIdx.x, pair)
            share_lines(policy, cuda.blockIdx.x, pair, share, before)
        for line in range(LINES):
            part = np.float32(0.0)
            if row >= 0:
                part = reach[board, root, pair] * share[line]
            below[board, line * roots + root, pair] = part


def respond_turn(
    bucket: Any, terms: Any, below: Any, after: Any, own_reach: Any, values: Any, own_below: Any
) -> None:
    """The opponent's best response on the turn: its values, and its reach of the river's roots."""
    roots = values.shape[1]
    board, root, thread = cuda.blockIdx.x // roots, cuda.blockIdx.x % roots, cuda.threadIdx.x
    of_card = cuda.shared.array((LINES, DECK), np.float32)
    total = cuda.shared.array(LINES, np.float32)
    _add_cards(board, root, roots, below, of_card, total)
    call, met = cuda.local.array(LINES, np.float32), cuda.local.array(LINES, np.float32)
    take, choice = cuda.local.array(LINES, np.int32), cuda.local.array(DECISIONS, np.int32)
    for pair in range(thread, PAIRS, cuda.blockDim.x):
        if bucket[board, pair] < 0:
            values[board, root, pair] = np.float32(0.0)
            for line in range(LINES):
                own_below[board, line * roots + root, pair] = np.float32(0.0)
            continue
        _meet(board, root, roots, pair, below, after, of_card, total, call, met)
        values[board, root, pair] = _choose(root, terms, call, met, choice)
        _lines_of(choice, take)
        came = own_reach[board, root, pair]
        for line in range(LINES):
            own_below[board, line * roots + root, pair] = came if take[line] else np.float32(0.0)


def learn_street(
    bucket: Any,
    rows: Any,
    boards: int,
    terms: Any,
    below: Any,
    after: Any,
    policy: Any,
    weight: Any,
    regrets: Any,
    own_reach: Any,
    came_by: Any,
    values: Any,
) -> None:
    """A player's values at the roots of a street by its policy; adds to its regrets and what came by.

    The policy is [roots, buckets, ROW] if `boards` is 0, else [boards * roots, 1326, ROW]. `came_by` may be
    empty.
    """
    roots = values.shape[1]
    board, root, thread = cuda.blockIdx.x // roots, cuda.blockIdx.x % roots, cuda.threadIdx.x
    of_card = cuda.shared.array((LINES, DECK), np.float32)
    total = cuda.shared.array(LINES, np.float32)
    _add_cards(board, root, roots, below, of_card, total)
    call, met = cuda.local.array(LINES, np.float32), cuda.local.array(LINES, np.float32)
    for pair in range(thread, PAIRS, cuda.blockDim.x):
        row = rows[board, pair]
        if bucket[board, pair] < 0:
            values[board, root, pair] = np.float32(0.0)
            continue
        _meet(board, root, roots, pair, below, after, of_card, total, call, met)
        i, j = (board * roots + root, np.int64(pair)) if boards else (root, row)
        values[board, root, pair] = _learn(root, row, terms, call, met, policy, i, j, weight, regrets)
        if came_by.shape[0]:
            cuda.atomic.add(came_by, (root, row), own_reach[board, root, pair])


def _add_cards(board: Any, root: Any, roots: Any, below: Any, of_card: Any, total: Any) -> None:
    """The sums of the other player's reach at the end of each line: by card, and of all hands."""
    for at in range(cuda.threadIdx.x, LINES * DECK, cuda.blockDim.x):
        line, card = at // DECK, at % DECK
        summed = np.float32(0.0)
        for partner in range(DECK):
            if partner != card:
                summed += below[board, line * roots + root, PAIR[card, partner]]
        of_card[line, card] = summed
    cuda.syncthreads()
    for line in range(cuda.threadIdx.x, LINES, cuda.blockDim.x):
        summed = np.float32(0.0)
        for card in range(DECK):
            summed += of_card[line, card]
        total[line] = summed / np.float32(2.0)
    cuda.syncthreads()


def _meet(
    board: Any,
    root: Any,
    roots: Any,
    pair: Any,
    below: Any,
    after: Any,
    of_card: Any,
    total: Any,
    call: Any,
    met: Any,
) -> None:
    """The value of a hand at the end of each line, and the other player's reach that it meets there."""
    low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
    for line in range(LINES):
        column = line * roots + root
        call[line] = after[board, column, pair]
        here = total[line] - of_card[line, low] - of_card[line, high] + below[board, column, pair]
        met[line] = max(here, np.float32(0.0))


def _choose(root: Any, terms: Any, call: Any, met: Any, choice: Any) -> Any:
    """The value of a street for a best response, and its choices."""
    hold, aside = np.float32(0.0), np.float32(0.0)
    for done in range(LINES - 1):
        line = LINES - 1 - done
        paid, after = terms[root, line, PAID], terms[root, line, PAID_NEXT]
        later = aside if line > MOST_BETS else hold
        if answers(line, OPENS):
            fold, value, chosen = -paid * met[line], call[line], 1
            if fold > value:
                value, chosen = fold, 0
            raised = later + after * met[line]
            if (line - 1) % MOST_BETS + 1 < BETS and raised > value:
                value, chosen = raised, 2
            choice[1 + (line - 1) // 2] = chosen
            value -= terms[root, line, PAID_LAST] * met[line]
        else:
            value = later + call[line] - paid * met[line]
        if line > MOST_BETS:
            aside = value
        else:
            hold = value
        if OPENS and line == 1:
            aside += terms[root, line, PAID_ASIDE] * met[line]
    begun, joined = (aside, hold) if OPENS else (hold, aside)
    check, bet = call[0], begun + terms[root, 0, PAID_NEXT] * met[0]
    if OPENS:
        check += joined
    choice[0] = 1 if bet > check else 0
    return max(check, bet) if OPENS else max(check, bet) + joined


def _lines_of(choice: Any, take: Any) -> None:
    """Which lines a player takes by its choices."""
    take[0] = 1 - choice[0]
    for sequence in range(2):
        begins = (sequence == 1) == OPENS
        here = choice[0] if begins else 1 - choice[0] if OPENS else 1
        for number in range(1, MOST_BETS + 1):
            line = sequence * MOST_BETS + number
            if (number % 2 == 1) != begins:
                chosen = choice[1 + (line - 1) // 2]
                take[line] = here if chosen == 1 else 0
                here = here if chosen == 2 else 0
            else:
                take[line] = here


def _learn(
    root: Any,
    row: Any,
    terms: Any,
    call: Any,
    met: Any,
    policy: Any,
    i: Any,
    j: Any,
    weight: Any,
    regrets: Any,
) -> Any:
    """The value of a street by the policy of a row; adds to the regrets of the row."""
    hold, aside = np.float32(0.0), np.float32(0.0)
    for done in range(LINES - 1):
        line = LINES - 1 - done
        paid, after = terms[root, line, PAID], terms[root, line, PAID_NEXT]
        later = aside if line > MOST_BETS else hold
        if answers(line, OPENS):
            legal, place = (line - 1) % MOST_BETS + 1 < BETS, 3 * (1 + (line - 1) // 2)
            fold, raised = -paid * met[line], later + after * met[line] if legal else np.float32(0.0)
            value = policy[i, j, place] * fold + policy[i, j, place + 1] * call[line]
            value += policy[i, j, place + 2] * raised
            cuda.atomic.add(regrets, (root, row, place), weight * (fold - value))
            cuda.atomic.add(regrets, (root, row, place + 1), weight * (call[line] - value))
            if legal:
                cuda.atomic.add(regrets, (root, row, place + 2), weight * (raised - value))
            value -= terms[root, line, PAID_LAST] * met[line]
        else:
            value = later + call[line] - paid * met[line]
        if line > MOST_BETS:
            aside = value
        else:
            hold = value
        if OPENS and line == 1:
            aside += terms[root, line, PAID_ASIDE] * met[line]
    begun, joined = (aside, hold) if OPENS else (hold, aside)
    check, bet = call[0], begun + terms[root, 0, PAID_NEXT] * met[0]
    if OPENS:
        check += joined
    value = policy[i, j, 0] * check + policy[i, j, 1] * bet
    cuda.atomic.add(regrets, (root, row, 0), weight * (check - value))
    cuda.atomic.add(regrets, (root, row, 1), weight * (bet - value))
    return value if OPENS else value + joined


def renew_preflop(street: Any, regrets: Any, average: Any, weight: Any, policy: Any) -> None:
    """Add a player's policy before the flop to its average, and match its regrets; a thread for each row."""
    reach = cuda.local.array(MOST_NODES, np.float32)
    for row in range(cuda.grid(1), regrets.shape[0], cuda.gridsize(1)):
        reach[0] = np.float32(1.0)
        for node in range(street.player.shape[0]):
            actions, first, edge = street.actions[node], street.first_child[node], street.edge[0, node]
            own, total = street.player[node] == PLAYER, np.float32(0.0)
            for action in range(actions):
                reach[first + action] = reach[node]
                if own:
                    old = policy[row, edge + action]
                    reach[first + action] = reach[node] * old
                    average[row, edge + action] += weight * reach[node] * old
                    total += max(regrets[row, edge + action], np.float32(0.0))
            for action in range(actions if own else 0):
                share = np.float32(1.0) / np.float32(actions)
                if total > np.float32(0.0):
                    share = max(regrets[row, edge + action], np.float32(0.0)) / total
                policy[row, edge + action] = share


def go_down_preflop(street: Any, classes: Any, bucket: Any, policy: Any, below: Any, ends: Any) -> None:
    """A player's reach of the flop's roots and of the nodes where a player folds; a block a board."""
    board, reach = cuda.blockIdx.x, cuda.local.array(MOST_NODES, np.float32)
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        reach[0] = np.float32(1.0) if bucket[board, pair] >= 0 else np.float32(0.0)
        row, end = classes[pair], 0
        for node in range(street.player.shape[0]):
            who, first = street.player[node], street.first_child[node]
            for action in range(street.actions[node]):
                part = np.float32(1.0)
                if who == PLAYER:
                    part = policy[row, street.edge[0, node] + action]
                reach[first + action] = reach[node] * part
            if who == EXIT:
                below[board, street.next_root[0, street.exit[node]], pair] = reach[node]
            elif who < 0:
                ends[board, end, pair] = reach[node]
                end += 1


def learn_preflop(
    street: Any,
    classes: Any,
    bucket: Any,
    ends: Any,
    after: Any,
    policy: Any,
    weight: Any,
    regrets: Any,
    won: Any,
) -> None:
    """A player's values before the flop; adds to its regrets, and to what it won. A block for each board."""
    board, thread = cuda.blockIdx.x, cuda.threadIdx.x
    of_card = cuda.shared.array((MOST_ENDS, DECK), np.float32)
    total = cuda.shared.array(MOST_ENDS, np.float32)
    for at in range(thread, ends.shape[1] * DECK, cuda.blockDim.x):
        end, card = at // DECK, at % DECK
        summed = np.float32(0.0)
        for partner in range(DECK):
            if partner != card:
                summed += ends[board, end, PAIR[card, partner]]
        of_card[end, card] = summed
    cuda.syncthreads()
    for end in range(thread, ends.shape[1], cuda.blockDim.x):
        summed = np.float32(0.0)
        for card in range(DECK):
            summed += of_card[end, card]
        total[end] = summed / np.float32(2.0)
    cuda.syncthreads()
    value = cuda.local.array(MOST_NODES, np.float32)
    for pair in range(thread, PAIRS, cuda.blockDim.x):
        if bucket[board, pair] < 0:
            continue
        low, high, row = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1], classes[pair]
        end = ends.shape[1]
        for done in range(street.player.shape[0]):
            node = street.player.shape[0] - 1 - done
            who, first = street.player[node], street.first_child[node]
            found = np.float32(0.0)
            if who == EXIT:
                found = after[board, street.next_root[0, street.exit[node]], pair]
            elif who < 0:
                end -= 1
                met = total[end] - of_card[end, low] - of_card[end, high] + ends[board, end, pair]
                found = np.float32(street.won[0, node, PLAYER]) * met
            elif who == PLAYER:
                edge = street.edge[0, node]
                for action in range(street.actions[node]):
                    found += policy[row, edge + action] * value[first + action]
                for action in range(street.actions[node]):
                    gained = weight * (value[first + action] - found)
                    cuda.atomic.add(regrets, (row, edge + action), gained)
            else:
                for action in range(street.actions[node]):
                    found += value[first + action]
            value[node] = found
        cuda.atomic.add(won, 0, np.float64(value[0]))
