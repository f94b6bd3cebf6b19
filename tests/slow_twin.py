"""Plain-Python twins of the kernels: recursion over the rules, dictionaries, no arrays, no tree.

Everything is written from the papers' definitions and shares no code with the product but the rules.
"""

from __future__ import annotations

from collections import defaultdict

from openfelt.games.game import CHANCE, TERMINAL, Game

Information = tuple[int, tuple[str, ...]]  # player, everything that it has observed
Profile = dict[Information, list[float]]


class SlowGame:
    """A history is (state, what each player has seen)."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.root = (game.start(), tuple(() for _ in range(game.players)))

    def mover(self, history) -> int:
        return self.game.turn(history[0])

    def information(self, history) -> Information:
        player = self.mover(history)
        return player, history[1][player]

    def children(self, history):
        state, knows = history
        for action in self.game.actions(state):
            seen = [self.game.sees(state, action, player) for player in range(self.game.players)]
            after = tuple(k + ((s,) if s else ()) for k, s in zip(knows, seen, strict=True))
            yield self.game.play(state, action), after

    def actions(self, history):
        return list(self.game.actions(history[0]))

    def chance(self, history):
        return list(self.game.chance(history[0]))

    def payoffs(self, history):
        return list(self.game.payoffs(history[0]))

    def breadth_first(self):
        """All histories, level by level."""
        level = [self.root]
        while level:
            following = []
            for history in level:
                yield history
                if self.mover(history) != TERMINAL:
                    following += self.children(history)
            level = following

    def values(self, history, profile: Profile) -> list[float]:
        """Expected payoffs from a history on."""
        mover = self.mover(history)
        if mover == TERMINAL:
            return self.payoffs(history)
        chances = self.chance(history) if mover == CHANCE else profile[self.information(history)]
        total = [0.0] * self.game.players
        for probability, child in zip(chances, self.children(history), strict=True):
            for player, value in enumerate(self.values(child, profile)):
                total[player] += probability * value
        return total

    def best_response(self, profile: Profile, player: int) -> float:
        """The value of the best response of one player."""
        chosen = self.best_actions(profile, player)
        answer = dict(profile)
        for information, action in chosen.items():
            answer[information] = [float(place == action) for place in range(len(profile[information]))]
        return self.values(self.root, answer)[player]

    def best_actions(self, profile: Profile, player: int) -> dict[Information, int]:
        """By infoset: the action of highest value, with histories weighted by the opponents' reach."""
        members = defaultdict(list)

        def collect(history, reach):
            mover = self.mover(history)
            if mover == TERMINAL:
                return
            if mover == player:
                members[self.information(history)].append((history, reach))
            chances = self.chance(history) if mover == CHANCE else profile[self.information(history)]
            for p, child in zip(chances, self.children(history), strict=True):
                collect(child, reach if mover == player else reach * p)

        chosen: dict[Information, int] = {}

        def choose(information):
            if information not in chosen:
                worth = [
                    sum(
                        reach * value(list(self.children(history))[place])
                        for history, reach in members[information]
                    )
                    for place in range(len(profile[information]))
                ]
                # Sums in another order differ in the last digits: take the first that is as good as the best.
                chosen[information] = next(p for p, w in enumerate(worth) if w > max(worth) - 1e-12)
            return chosen[information]

        def value(history):
            mover = self.mover(history)
            if mover == TERMINAL:
                return self.payoffs(history)[player]
            children = list(self.children(history))
            if mover == player:
                return value(children[choose(self.information(history))])
            chances = self.chance(history) if mover == CHANCE else profile[self.information(history)]
            return sum(p * value(child) for p, child in zip(chances, children, strict=True))

        collect(self.root, 1.0)
        for information in members:
            choose(information)
        return chosen


class SlowCFR:
    """CFR and its variants as in their papers, with alternating updates."""

    def __init__(self, game: Game, rule: str, exponents: tuple[float, ...] = (1.5, 0.0, 2.0)) -> None:
        self.slow, self.rule = SlowGame(game), rule
        self.alpha, self.beta, self.gamma = exponents  # of dcfr
        self.regret: Profile = {}
        self.instant: Profile = {}
        self.average: Profile = {}
        for history in self.slow.breadth_first():
            if self.slow.mover(history) >= 0:
                count = len(self.slow.actions(history))
                for table in (self.regret, self.instant, self.average):
                    table.setdefault(self.slow.information(history), [0.0] * count)
        self.t = 0

    def play(self, information: Information) -> list[float]:
        regret = self.regret[information]
        if self.rule == "pcfr+":
            regret = [r + i for r, i in zip(regret, self.instant[information], strict=True)]
        positive = [max(r, 0.0) for r in regret]
        total = sum(positive)
        return [p / total for p in positive] if total > 0 else [1 / len(positive)] * len(positive)

    def iterate(self) -> None:
        self.t += 1
        for player in range(self.slow.game.players):
            profile = {information: self.play(information) for information in self.regret}
            found: Profile = {information: [0.0] * len(play) for information, play in profile.items()}
            own_reach: dict[Information, float] = {}
            self._walk(self.slow.root, player, profile, [1.0] * self.slow.game.players, 1.0, found, own_reach)
            self._learn(player, profile, found, own_reach)

    def _walk(self, history, player, profile, reach, chance, found, own_reach) -> float:
        mover = self.slow.mover(history)
        if mover == TERMINAL:
            return self.slow.payoffs(history)[player]
        children = list(self.slow.children(history))
        if mover == CHANCE:
            return sum(
                p * self._walk(child, player, profile, reach, chance * p, found, own_reach)
                for p, child in zip(self.slow.chance(history), children, strict=True)
            )
        information = self.slow.information(history)
        values = []
        for p, child in zip(profile[information], children, strict=True):
            further = list(reach)
            further[mover] *= p
            values.append(self._walk(child, player, profile, further, chance, found, own_reach))
        value = sum(p * v for p, v in zip(profile[information], values, strict=True))
        if mover == player:
            others = chance
            for p, r in enumerate(reach):
                others *= 1.0 if p == player else r
            own_reach[information] = reach[player]
            for place, action_value in enumerate(values):
                found[information][place] += others * (action_value - value)
        return value

    def _learn(self, player, profile, found, own_reach) -> None:
        t = self.t
        weight = {"cfr": 1.0, "cfr+": float(t), "dcfr": float(t) ** self.gamma, "pcfr+": float(t) ** 2}[
            self.rule
        ]
        for information, play in profile.items():
            if information[0] != player:
                continue
            for place, probability in enumerate(play):
                self.average[information][place] += weight * own_reach[information] * probability
                regret = self.regret[information][place] + found[information][place]
                if self.rule in ("cfr+", "pcfr+"):
                    regret = max(regret, 0.0)
                elif self.rule == "dcfr":
                    power = float(t) ** (self.alpha if regret > 0 else self.beta)
                    regret *= power / (power + 1)
                self.regret[information][place] = regret
            self.instant[information] = found[information]

    def profile(self) -> Profile:
        return {
            information: [s / sum(sums) for s in sums] if sum(sums) > 0 else [1 / len(sums)] * len(sums)
            for information, sums in self.average.items()
        }


def slow_fictitious_play(game: Game, iterations: int) -> Profile:
    """Brown's fictitious play with pure plans as the strategies that are averaged."""
    slow = SlowGame(game)
    informations: dict[
        Information, tuple[tuple[Information, int], ...]
    ] = {}  # with the own actions before it
    counts: dict[Information, int] = {}

    def collect(history, own):
        mover = slow.mover(history)
        if mover == TERMINAL:
            return
        if mover >= 0:
            information = slow.information(history)
            informations[information] = own[mover]
            counts[information] = len(slow.actions(history))
        for place, child in enumerate(slow.children(history)):
            step = list(own)
            if mover >= 0:
                step[mover] = (*own[mover], (slow.information(history), place))
            collect(child, step)

    collect(slow.root, [() for _ in range(game.players)])
    sums = {}
    for information, count in counts.items():
        reach = 1.0
        for before, _ in informations[information]:
            reach /= counts[before]
        sums[information] = [reach / count] * count

    def profile():
        return {i: [s / sum(w) for s in w] if sum(w) > 0 else [1 / len(w)] * len(w) for i, w in sums.items()}

    for _ in range(iterations):
        now = profile()
        chosen = {}
        for player in range(game.players):
            chosen.update(slow.best_actions(now, player))
        for information, own in informations.items():
            if all(chosen[before] == action for before, action in own):
                sums[information][chosen[information]] += 1.0
    return profile()
