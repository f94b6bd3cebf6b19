"""Relational trees: their tests, how they read and how they are saved.

Tests print as in PGC10's Figure 2: E is the example, P the player; other letters are new variables. OTHER is
another player than P, not always the same one.
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
    """A fact is more than a limit."""

    fact: str
    limit: float


@dataclass(frozen=True)
class Acts:
    """The action of the example is this one."""

    action: int


@dataclass(frozen=True)
class Did:
    """There are earlier actions for all literals of the path and these."""

    literals: Query


Test = Exceeds | Acts | Did


@dataclass(frozen=True)
class TreeLeaf:
    """Where a tree ends, or a tree of nothing else."""

    player: float  # weight of examples of the player
    prior: float  # and of the prior
    above: float = 0.5  # P(D_p | x) of the leaf that was split

    def chance(self, m: float) -> float:
        """P(D_p | x): the m-estimate, as if m examples more were here, with the shares of the leaf above."""
        return (self.player + m * self.above) / (self.player + self.prior + m)

    def odds(self, m: float) -> float:
        """P(D_p | x) / (1 - P(D_p | x)), by which the prior is multiplied (PGC10, equation 7)."""
        return (self.player + m * self.above) / (self.prior + m * (1.0 - self.above))


@dataclass(frozen=True)
class TreeSplit:
    """A test, and a tree for each answer."""

    test: Test
    yes: RelationalTree
    no: RelationalTree


RelationalTree = TreeLeaf | TreeSplit


def rules(tree: RelationalTree, bias: LanguageBias, m: float) -> list[str]:
    """A tree as a Prolog decision list (PGC10): the first rule whose conditions hold is the one."""
    found = list[str]()

    def tell(tree: RelationalTree, words: tuple[str, ...], speaker: PathFormatter) -> None:
        if isinstance(tree, TreeLeaf):
            found.append(f"{', '.join((*words, '!.'))} -> {leaf_words(tree, m)}")
            return
        said, below = speaker.say(tree.test)
        tell(tree.yes, (*words, said), below)
        tell(tree.no, words, speaker)

    tell(tree, (), PathFormatter(bias))
    return found


def leaf_words(leaf: TreeLeaf, m: float) -> str:
    """In percent."""
    chance = 100 * leaf.chance(m)
    return f"player {chance:.0f}%, prior {100 - chance:.0f}% ({leaf.player + leaf.prior:,.0f} examples)"


def indented(tree: RelationalTree, bias: LanguageBias, m: float) -> str:
    """A tree as lines of text, the branches below their tests."""
    lines = list[str]()

    def tell(tree: RelationalTree, before: str, indent: str, speaker: PathFormatter) -> None:
        if isinstance(tree, TreeLeaf):
            lines.append(f"{before}{leaf_words(tree, m)}")
            return
        said, below = speaker.say(tree.test)
        lines.append(f"{before}{said} ?")
        tell(tree.yes, f"{indent}  yes: ", f"{indent}  ", below)
        tell(tree.no, f"{indent}  no:  ", f"{indent}  ", speaker)

    tell(tree, "", "", PathFormatter(bias))
    return "\n".join(lines)


class PathFormatter:
    """Puts the tests of one path into words; letters go on where those of the path above ended."""

    def __init__(self, bias: LanguageBias, letters: int = 0, times: tuple[str, ...] = ("E",)) -> None:
        self.bias, self.letters, self.times = bias, letters, times  # times: the letters of actions so far

    def say(self, test: Test) -> tuple[str, PathFormatter]:
        """The words, and who speaks below, where it holds."""
        if isinstance(test, Acts):
            return f"ACTION(E,{CLASSES[test.action].upper()})", self
        if isinstance(test, Exceeds):
            name = test.fact.upper()
            if self.bias.is_flag(test.fact):
                return f"{name}(E)", self
            letter = _letter(self.letters)
            words = f"{name}(E,{letter}), {letter}>{test.limit:.4g}"
            return words, PathFormatter(self.bias, self.letters + 1, self.times)
        return self._say_did(test)

    def _say_did(self, test: Did) -> tuple[str, PathFormatter]:
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
    """For a JSON file."""
    if isinstance(tree, TreeLeaf):
        return [tree.player, tree.prior, tree.above]
    test = tree.test
    if isinstance(test, Exceeds):
        said: list[Any] = ["exceeds", test.fact, test.limit]
    elif isinstance(test, Acts):
        said = ["acts", test.action]
    else:
        said = ["did", [list(literal) for literal in test.literals]]
    return [said, tree_to_save(tree.yes), tree_to_save(tree.no)]


def tree_from(saved: Any) -> RelationalTree:
    """What `tree_to_save` made."""
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
    return TreeSplit(test, tree_from(yes), tree_from(no))
