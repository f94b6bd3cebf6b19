"""Gambit files. A strict reader of the same format, `strict_efg`, decides what a changed file means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fuzz.files import FileTarget
from fuzz.strict_efg import Invalid, read_strictly
from fuzz.target import Finding, Mutant
from openfelt.games.compile.check_game import check_game
from openfelt.games.compile.export_efg import write_efg
from openfelt.games.efg import read_efg

BY_HAND = r"""EFG 2 R "Matching pennies, with a toss" { "Ann" "Bo \"B\"" }
"A comment"
c "" 1 "toss" { "h" 1/2 "t" 0.5 } 1 "start" { 1, -1 }
p "" 1 1 "Ann" { "H" "T" } 0
p "" 2 1 "Bo" { "H" "T" } 0
t "" 2 "win" { 1, -1 }
t "" 3 "loss" { -1, 1 }
p "" 2 1 0
t "" 3
t "" 2
p "" 1 2 "Ann's" { "H" "T" } 0
p "" 2 2 "" { "" "" } 0
t "" 2
t "" 3
p "" 2 2 0
t "" 4 "" { 1e0 -1 }
t "" 3
"""
WORDS = (b"{", b"}", b'"', b"c", b"p", b"t", b"1/2", b"1/3", b"EFG", b"R", b"D", b'"H"', b'"x"', b"0", b"2")


class EfgTarget(FileTarget):
    """Two files of ours and one written by hand, with everything that the format allows."""

    name, suffix, words = "efg", ".efg", WORDS

    def prepare(self) -> None:
        self.add_text(BY_HAND)
        for game in ("kuhn", "one_card(3)"):
            path = self.folder / "written.efg"
            write_efg(game, path)
            self.add_text(path.read_bytes())
            path.unlink()

    def read_file(self, path: Path) -> Any:
        game = read_efg(path)
        check_game(game)
        return tuple(map(repr, game.nodes)), game.players, game.totals

    def rule(self, mutant: Mutant, content: Any) -> str:
        try:
            nodes, players, totals = read_strictly(self.data(mutant).decode())
        except Invalid as error:
            raise Finding(f"the file is not a valid .efg file: {error}") from None
        found_nodes, found_players, found_totals = content
        if players != found_players or len(nodes) != len(found_nodes):
            raise Finding("the game has other players or nodes than the file")
        if any(
            abs(a - b) > 1e-9
            for one, two in zip(totals, found_totals, strict=True)
            for a, b in zip(one, two, strict=True)
        ):
            raise Finding("the payoffs are not those of the file")
        for ours, node in zip(found_nodes, nodes, strict=True):
            if f"player={node.player}, infoset={node.infoset}," not in ours:
                raise Finding("a node is not that of the file")
            if node.chance and f"chance={node.chance!r}" not in ours:
                raise Finding("chance is not that of the file")
        return "another valid game: a strict reader of the format reads the same"
