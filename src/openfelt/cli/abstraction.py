"""`felt abstraction`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openfelt.cli.options import Bars, busy, count, print_json, progress_bar
from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.cards.abstraction.abstraction import Abstraction, BucketTables

HELP = (
    "Card abstractions of hold'em: maps from hands to buckets. `build` makes the bucket tables of an\n"
    "abstraction; training does so itself when they are missing. `show` prints how many hands each bucket\n"
    "holds, or with --hand the bucket of one hand. A name is a kind and the numbers of buckets on preflop,\n"
    "flop, turn and river (one number: the same on all streets). The flop can be `lossless`: a bucket for\n"
    "each hand up to suit isomorphism. The kinds are:\n"
)
EXAMPLES = [
    "felt abstraction build ehs2:169/100/100/100",
    "felt abstraction show ehs2:169/1000/500/200 --plot buckets.png",
    "felt abstraction show ehs:10 --hand AhKh --board Qh7h2s",
    "felt abstraction show kmeans:169/lossless/500/219",
    "felt abstraction build kmeans:169/100/100/100      (needs '.[models]')",
]


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    from openfelt.cards.abstraction.spec import KINDS

    parser.description = HELP + "\n".join(f"  {kind:<11} {text}" for kind, text in KINDS.items())
    parser.add_argument(
        "what", choices=("build", "show"), help="build the tables, or inspect the abstraction"
    )
    parser.add_argument("name", help="for example ehs2:169/100/100/100")
    parser.add_argument("--threads", type=count, default=2, help="CPU threads (default: 2)")
    parser.add_argument("--plot", type=Path, help="show: draw the sizes of the buckets to a .png file")
    parser.add_argument("--hand", help="show: two hole cards, such as AhKh")
    parser.add_argument("--board", default="", help="show: with --hand, a board of 3, 4 or 5 cards")


def run(arguments: argparse.Namespace) -> None:
    from openfelt.cards.abstraction.spec import parse_spec

    spec = parse_spec(arguments.name)
    if arguments.board and not arguments.hand:
        raise FeltError("--board needs --hand, the two hole cards.")
    if arguments.what == "build" and (arguments.hand or arguments.plot):
        raise FeltError("--hand and --plot belong to `felt abstraction show`.")
    if arguments.plot:
        from openfelt.plots.figure import prepare_figure

        prepare_figure(arguments.plot)
    begun = time.perf_counter()
    shown, with_tables = not arguments.json, not arguments.hand
    abstraction = built(spec.name, arguments.threads, shown=shown, with_tables=with_tables)
    if arguments.hand:
        _show_hand(abstraction, arguments)
        return
    tables = abstraction.tables()
    occupancy = abstraction.occupancy(tables)
    facts = _facts(abstraction, tables, occupancy) | {"seconds": time.perf_counter() - begun}
    if arguments.plot:
        from openfelt.plots.buckets import plot_occupancy

        plot_occupancy(abstraction.name, occupancy, arguments.plot)
        facts["plot"] = str(arguments.plot)
    if arguments.json:
        print_json(facts)
    else:
        _print(facts)


def built(name: str, threads: int, *, shown: bool = True, with_tables: bool = True) -> Abstraction:
    """An abstraction with its bucket tables; missing ones are built under a progress bar."""
    from openfelt.cards.abstraction.abstraction import load_abstraction
    from openfelt.cards.abstraction.recipes import needs_tables
    from openfelt.cards.abstraction.spec import parse_spec
    from openfelt.cards.strength_tables import strength_tables

    spec = parse_spec(name)
    with progress_bar(shown) as bar:
        if needs_tables(spec):
            strength_tables(threads=threads, progress=bar("hand strengths"))
        with busy(f"choosing the buckets of {spec.name}"):
            abstraction = load_abstraction(spec)
        if with_tables:
            make_tables(abstraction, threads, bar)
    return abstraction


def make_tables(abstraction: Abstraction, threads: int, bar: Bars) -> None:
    """Load the bucket tables of an abstraction; missing ones are built under a progress bar."""
    from openfelt.cards.strength_tables import strength_tables

    if not abstraction.folder.exists():
        strength_tables(threads=threads, progress=bar("hand strengths"))
    abstraction.tables(threads=threads, progress=bar(f"bucket tables of {abstraction.name}"))


def _show_hand(abstraction: Abstraction, arguments: argparse.Namespace) -> None:
    from openfelt.cards.deck import BOARD_CARDS, FLOP, STREETS
    from openfelt.cards.strength import hand_strength

    strength = hand_strength(arguments.hand, arguments.board)
    bucket = abstraction.bucket(arguments.hand, arguments.board)
    street = BOARD_CARDS.index(len(strength.board) // 2)
    if arguments.json:
        facts = {"abstraction": abstraction.name, "street": STREETS[street], "bucket": bucket}
        print_json({**facts, "buckets": abstraction.counts[street], **strength.as_dict()})
        return
    print(strength)
    is_lossless = street == FLOP and abstraction.spec.has_lossless_flop
    order = "all hands up to suits, flop by flop" if is_lossless else "0 is the weakest"
    print(f"  {abstraction.name}: bucket {bucket} of {abstraction.counts[street]} ({order})")


def _facts(abstraction: Abstraction, tables: BucketTables, occupancy: list[Any]) -> dict[str, Any]:
    from openfelt.cards.deck import STREETS

    return {
        "abstraction": abstraction.name,
        "fingerprint": abstraction.fingerprint,
        "folder": str(abstraction.folder),
        "bytes": sum(table.nbytes for table in tables),
        "streets": {
            street: {
                "buckets": len(share),
                "boards": len(table),
                "used": int((share > 0).sum()),
                "largest_share": float(share.max()),
                "smallest_share": float(share[share > 0].min()),
            }
            for street, share, table in zip(STREETS, occupancy, tables, strict=True)
        },
    }


def _print(facts: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("street", "boards", "buckets", "in use", "largest share", "smallest share")
    for street, found in facts["streets"].items():
        sizes = [f"{found[key]:,}" for key in ("boards", "buckets", "used")]
        shares = [f"{100 * found[key]:.3g}%" for key in ("largest_share", "smallest_share")]
        table.add_row(street, *sizes, *shares)
    print(
        f"{facts['abstraction']}: {facts['bytes'] / 1e6:.0f} MB in {facts['folder']}, "
        f"ready after {facts['seconds']:.1f} seconds"
    )
    Console().print(table)
    if "plot" in facts:
        print(f"figure written to {facts['plot']}")
