"""Plain-Python twins of the Monte-Carlo learners: recursions as the papers print them, over dictionaries.

They draw the same numbers in the same order as the kernels, so the tables must come out the same: iteration
number n, from 1 on, draws those that come n * 2^20 places after the start.
"""

from __future__ import annotations

import math
from collections import defaultdict

from slow_twin import SlowGame

from openfelt.core.sampling import alias_table
from openfelt.games.game import CHANCE, TERMINAL, Game

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


class SplitMix64:
    """Steele, Lea & Flood 2014."""

    def __init__(self, state: int) -> None:
        self.state = state

    def next(self) -> int:
        self.state = (self.state + GOLDEN) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def skip(self, draws: int) -> None:
        self.state = (self.state + draws * GOLDEN) & MASK

    def uniform(self) -> float:
        return (self.next() >> 11) / 2**53

    def draw(self, probabilities) -> int:
        place = self.uniform()
        for action, probability in enumerate(probabilities[:-1]):
            place -= probability
            if place < 0:
                return action
        return len(probabilities) - 1


class SlowLearner:
    def __init__(self, game: Game, start: int) -> None:
        self.slow, self.start, self.random = SlowGame(game), start, SplitMix64(start)
        self.players, self.iterations = game.players, 0

    def begin(self):
        """Each iteration has numbers of its own to draw."""
        self.iterations += 1
        self.random = SplitMix64(self.start)
        self.random.skip(self.iterations * 2**20)

    def settle(self, history):
        """Chance moves while it is its turn."""
        while self.slow.mover(history) == CHANCE:
            share, other = alias_table(self.slow.chance(history))
            column = self.random.uniform() * len(share)
            place = int(column)
            if column - place >= share[place]:
                place = other[place]
            history = list(self.slow.children(history))[place]
        return history

    def follow(self, history, action):
        return self.settle(list(self.slow.children(history))[action])


class SlowUCT(SlowLearner):
    """HS14, Algorithms 1 and 2."""

    def __init__(
        self, game, start, *, eta, exploration, rollout="uniform", opponent=None, threshold=0, below=""
    ):
        super().__init__(game, start)
        self.smooth = eta is not None
        self.eta, self.exploration, self.rollout = eta, exploration, rollout
        self.opponent, self.threshold, self.below = opponent, threshold, below
        self.n, self.payoffs = {}, {}

    def search(self, episodes):
        for _ in range(episodes):
            self.out_of_tree = set()
            self.learner = self.iterations % self.players
            self.begin()
            self.simulate(self.settle(self.slow.root))

    def simulate(self, history):
        if self.slow.mover(history) == TERMINAL:
            return self.slow.payoffs(history)
        player = self.slow.mover(history)
        if self.opponent is not None and player != self.learner:
            action = self.random.draw(self.opponent[self.slow.information(history)])
            return self.simulate(self.follow(history, action))
        if player in self.out_of_tree:
            return self.simulate(self.follow(history, self.roll_out(history)))
        o = self.slow.information(history)
        if o not in self.n:
            action = self.roll_out(history)
            self.n[o] = [0] * len(self.slow.actions(history))
            self.payoffs[o] = [0.0] * len(self.slow.actions(history))
            if self.rollout != "on-policy":
                self.out_of_tree.add(player)
        else:
            action = self.select(o, self.exploration(history))
        rewards = self.simulate(self.follow(history, action))
        self.n[o][action] += 1
        # The paper's running mean is kept as a sum, so that equal values are equal to the last digit.
        self.payoffs[o][action] += rewards[player]
        return rewards

    def roll_out(self, history):
        actions = self.slow.actions(history)
        if self.rollout == "call":
            return actions.index(self.slow.game.passive(history[0]))
        return int(self.random.uniform() * len(actions))

    def select(self, o, c):
        n, total = self.n[o], sum(self.n[o])
        if total < self.threshold and self.below != "ucb":
            if 0 in n:
                return n.index(0)
            return self.random.draw([count / total for count in n])
        if self.smooth and total >= self.threshold and self.random.uniform() >= self.eta(n):
            return self.random.draw([count / total for count in n])
        bounds = [
            math.inf if count == 0 else payoffs / count + c * math.sqrt(math.log(total) / count)
            for count, payoffs in zip(n, self.payoffs[o], strict=True)
        ]
        return bounds.index(max(bounds))


def match(regrets):
    positive = [max(regret, 0.0) for regret in regrets]
    total = sum(positive)
    return [p / total for p in positive] if total > 0 else [1 / len(regrets)] * len(regrets)


class SlowOutcome(SlowLearner):
    """PJL11, Algorithm 1, with every probability of equation 6 multiplied out, chance included."""

    def __init__(self, game, start, epsilon):
        super().__init__(game, start)
        self.epsilon = epsilon
        self.regret, self.average, self.marker = {}, {}, defaultdict(int)

    def probability_of_chance(self, before, after):
        """Of all that chance did between two decisions, by asking every way from the one to the other."""
        if before == after:
            return 1.0
        if self.slow.mover(before) != CHANCE:
            return 0.0
        return sum(
            p * self.probability_of_chance(child, after)
            for p, child in zip(self.slow.chance(before), self.slow.children(before), strict=True)
        )

    def iterate(self):
        self.begin()
        history = self.settle(self.slow.root)
        chance = [self.probability_of_chance(self.slow.root, history)]
        steps = []  # information, action, policy, sampling policy
        while self.slow.mover(history) != TERMINAL:
            information = self.slow.information(history)
            count = len(self.slow.actions(history))
            self.regret.setdefault(information, [0.0] * count)
            self.average.setdefault(information, [0.0] * count)
            policy = match(self.regret[information])
            sampling = [self.epsilon / count + (1 - self.epsilon) * p for p in policy]
            action = self.random.draw(sampling)
            steps.append((information, action, policy, sampling))
            child = list(self.slow.children(history))[action]
            history = self.settle(child)
            chance.append(self.probability_of_chance(child, history))
        payoffs = self.slow.payoffs(history)
        sampled = math.prod(chance) * math.prod(s[action] for _, action, _, s in steps)
        for place in range(len(steps) - 1, -1, -1):
            (player, _), action, policy, _ = steps[place]
            information = steps[place][0]
            before = [(step[0][0], step[2][step[1]]) for step in steps[:place]]
            own = math.prod(p for who, p in before if who == player)
            others = math.prod(p for who, p in before if who != player) * math.prod(chance[: place + 1])
            tail = math.prod(p[a] for _, a, p, _ in steps[place + 1 :]) * math.prod(chance[place + 1 :])
            w = payoffs[player] * others / sampled
            for a in range(len(policy)):
                here = tail * policy[action]
                self.regret[information][a] += w * ((tail if a == action else 0.0) - here)
                since = self.iterations - self.marker[information]
                self.average[information][a] += since * own * policy[a]
            self.marker[information] = self.iterations


class SlowExternal(SlowLearner):
    """External sampling as Lanctot et al. 2009 print it, and chance sampling, by recursion."""

    def __init__(self, game, start, samples_others):
        super().__init__(game, start)
        self.samples_others = samples_others
        self.regret, self.average = {}, {}

    def iterate(self):
        self.begin()
        for player in range(self.players):
            self.fixed = {}
            self.walk(self.settle(self.slow.root), player, 1.0, 1.0)

    def walk(self, history, traverser, own, others):
        player = self.slow.mover(history)
        if player == TERMINAL:
            return self.slow.payoffs(history)[traverser]
        information = self.slow.information(history)
        count = len(self.slow.actions(history))
        regret = self.regret.setdefault(information, [0.0] * count)
        average = self.average.setdefault(information, [0.0] * count)
        is_new = information not in self.fixed
        policy = self.fixed.setdefault(information, match(regret))
        if self.samples_others and player != traverser:
            if player == (traverser + 1) % self.players:
                for action in range(count):
                    average[action] += policy[action]
            return self.walk(self.follow(history, self.random.draw(policy)), traverser, own, others)
        if is_new and player == traverser and not self.samples_others:
            for action in range(count):
                average[action] += own * policy[action]
        values = []
        for action in range(count):
            mine, theirs = (
                (own * policy[action], others) if player == traverser else (own, others * policy[action])
            )
            reach = (own, others) if self.samples_others else (mine, theirs)
            values.append(self.walk(self.follow(history, action), traverser, *reach))
        value = sum(p * v for p, v in zip(policy, values, strict=True))
        if player == traverser:
            for action in range(count):
                regret[action] += others * (values[action] - value)
        return value
