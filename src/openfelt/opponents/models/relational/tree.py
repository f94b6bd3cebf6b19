"""Relational trees: their tests, text and files.

Tests print as in PGC10's Figure 2: E is the example, P the player; other letters are new variables. OTHER is
any player but P, not always the same one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from openfelt.opponents.models.public_queries import IN_PHASE, THE_PLAYER
from openfelt.opponents.models.public_tree import CLASSES
from openfelt.opponents.models.relational.language import LanguageBias, Query

_LETTERS = "FGHIJKLMNQRSTUVWXYZ"  # E is the example, P the player, O looks like zero


@dataclass(frozen=True)
class Exceeds:
    """A fact exceeds a limit."""

    fact: str
    limit: float


@dataclass(frozen=True)
class Acts:
    """The example has this action."""

    action: int


@dataclass(frozen=True)
class Did:
    """Earlier actions satisfy all literals of the path and these."""

    literals: Query


Test = Exceeds | Acts | Did


@dataclass(frozen=True)
class TreeLeaf:
    """A leaf, or a tree of one leaf."""

    player: float  # weight of the player's examples
    prior: float  # weight of the prior's examples
    above: float = 0.5  # P(D_p | x) of the parent

    def chance(self, m: float) -> float:
        """P(D_p | x): the m-estimate, with m pseudo-examples in the proportions of the parent."""
        return (self.player + m * self.above) / (self.player + self.prior + m)

    def odds(self, m: float) -> float:
        """P(D_p | x) / (1 - P(D_p | x)), by which the prior is multiplied (PGC10, equation 7)."""
        return (self.player + m * self.above) / (self.prior + m * (1.0 - self.above))


@dataclass(frozen=True)
class TreeSplit:
    """A test, and a tree for each result."""

    test: Test
    yes: RelationalTree
    no: RelationalTree


RelationalTree = TreeLeaf | TreeSplit


def rules(tree: RelationalTree, bias: LanguageBias, m: float) -> list[str]:
    """A tree as a Prolog decision list (PGC10): the first rule whose conditions hold applies."""
    found = list[str]()

    def add(tree: RelationalTree, words: tuple[str, ...], formatter: PathFormatter) -> None:
        if isinstance(tree, TreeLeaf):
            found.append(f"{', '.join((*words, '!.'))} -> {leaf_words(tree, m)}")
            return
        text, below = formatter.format(tree.test)
        add(tree.yes, (*words, text), below)
        add(tree.no, words, formatter)

    add(tree, (), PathFormatter(bias))
    return found


def leaf_words(leaf: TreeLeaf, m: float) -> str:
    """Probabilities in percent, and the number of examples."""
    chance = 100 * leaf.chance(m)
    return f"player {chance:.0f}%, prior {100 - chance:.0f}% ({leaf.player + leaf.prior:,.0f} examples)"


def indented(tree: RelationalTree, bias: LanguageBias, m: float) -> str:
    """A tree as indented text, branches below their tests."""
    lines = list[str]()

    def add(tree: RelationalTree, before: str, indent: str, formatter: PathFormatter) -> None:
        if isinstance(tree, TreeLeaf):
            lines.append(f"{before}{leaf_words(tree, m)}")
            return
        text, below = formatter.format(tree.test)
        lines.append(f"{before}{text} ?")
        add(tree.yes, f"{indent}  yes: ", f"{indent}  ", below)
        add(tree.no, f"{indent}  no:  ", f"{indent}  ", formatter)

    add(tree, "", "", PathFormatter(bias))
    return "\n".join(lines)


class PathFormatter:
    """Formats the tests of one path; letters continue after those of the path above."""

    def __init__(self, bias: LanguageBias, letters: int = 0, times: tuple[str, ...] = ("E",)) -> None:
        self.bias, self.letters, self.times = bias, letters, times  # times: letters of the actions so far

    def format(self, test: Test) -> tuple[str, PathFormatter]:
        """The text, and the formatter of the branch where the test holds."""
        if isinstance(test, Acts):
            return f"ACTION(E,{CLASSES[test.action].upper()})", self
        if isinstance(test, Exceeds):
            name = test.fact.upper()
            if not self.bias.has_fact(test.fact):
                raise KeyError(test.fact)
            if self.bias.is_flag(test.fact):
                return f"{name}(E)", self
            letter = _letter(self.letters)
            words = f"{name}(E,{letter}), {letter}>{test.limit:.4g}"
            return words, PathFormatter(self.bias, self.letters + 1, self.times)
        return self._format_did(test)

    def _format_did(self, test: Did) -> tuple[str, PathFormatter]:
        words, letters, times = [], self.letters, list(self.times)
        for parent, who, what, where in test.literals:
            times.append(_letter(letters))
            letters += 1
            name = "ACTION_IN_PHASE" if where == IN_PHASE else "ACTION_IN_GAME"
            whose = "P" if who == THE_PLAYER else "OTHER"
            words.append(f"{name}({times[parent]},{whose},{times[-1]},{CLASSES[what].upper()})")
        return ", ".join(words), PathFormatter(self.bias, letters, tuple(times))


def _letter(number: int) -> str:
    rounds, place = divmod(number, len(_LETTERS))
    return _LETTERS[place] + (str(rounds) if rounds else "")


def tree_to_save(tree: RelationalTree) -> list[Any]:
    """For JSON."""
    if isinstance(tree, TreeLeaf):
        return [tree.player, tree.prior, tree.above]
    test = tree.test
    if isinstance(test, Exceeds):
        saved: list[Any] = ["exceeds", test.fact, test.limit]
    elif isinstance(test, Acts):
        saved = ["acts", test.action]
    else:
        saved = ["did", [list(literal) for literal in test.literals]]
    return [saved, tree_to_save(tree.yes), tree_to_save(tree.no)]


def tree_from(saved: Any) -> RelationalTree:
    """A tree of `tree_to_save`."""
    if isinstance(saved[0], float):
        return TreeLeaf(*map(float, saved))
    (word, *rest), yes, no = saved
    test: Test
    if word == "exceeds":
        test = Exceeds(str(rest[0]), float(rest[1]))
    elif word == "acts":
        test = Acts(int(rest[0]))
    else:
        test = Did(tuple((int(a), int(b), int(c), int(d)) for a, b, c, d in rest[0]))
        if min(map(min, test.literals)) < 0:
            raise ValueError("literal")
    return TreeSplit(test, tree_from(yes), tree_from(no))
