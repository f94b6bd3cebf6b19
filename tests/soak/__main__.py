"""`make soak`: simulated hours of table traffic with faults, and an audit of the database afterwards."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from soak.audit import audit
from soak.clock import SimulatedClock, WallClock
from soak.disk import Disk, enter_namespace
from soak.faults import GAP, Faults
from soak.ledger import Ledger
from soak.server import Server
from soak.visitors import Visitor, intrude

VISITORS = 24
HOUR = 3600.0


def main() -> int:
    """Print the report, write it to a file if asked to; exit code 1 if anything was violated."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=24.0, help="simulated hours (default: 24)")
    parser.add_argument("--seed", type=int, default=1, help="of visitors and faults (default: 1)")
    parser.add_argument("--visitors", type=int, default=VISITORS, help=f"default: {VISITORS}")
    parser.add_argument(
        "--gap", type=float, default=GAP, help=f"seconds between faults, in the mean (default: {GAP:g})"
    )
    parser.add_argument(
        "--no-tmpfs", action="store_true", help="fill the disk by a limit on the size of files (RLIMIT_FSIZE)"
    )
    parser.add_argument("--out", type=Path, help="write the report to this JSON file")
    arguments = parser.parse_args()
    if not arguments.no_tmpfs:
        enter_namespace()
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(_soak(Path(folder), arguments))
    text = json.dumps(report, indent=2) + "\n"
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
    return 1 if report["violations"] else 0


async def _soak(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    begun, dice = time.monotonic(), random.Random(arguments.seed)
    (folder / "disk").mkdir()
    disk, database = Disk(folder / "disk"), folder / "disk" / "table.db"
    clock, ledger = SimulatedClock(), Ledger()
    wall = WallClock(folder / "clock", clock)
    server = Server(folder, database, folder / "clock")
    faults = Faults(server, disk, clock, wall, ledger, dice.getrandbits(64), arguments.gap)
    await server.start()
    try:
        for number in range(arguments.visitors):
            clock.start(Visitor(server, clock, wall, ledger, f"{arguments.seed} {number}").visit())
        clock.start(intrude(server, clock, ledger, random.Random(dice.getrandbits(64))))
        clock.start(faults.run())
        clock.start(_show_progress(clock, ledger))
        await clock.run(arguments.hours * HOUR, wall.show)
        await faults.finish()
    finally:
        server.kill()
    found = audit(database, ledger)
    _check_rules(database, ledger)
    disk.unmount()
    return {
        "command": f"make soak HOURS={arguments.hours:g} SEED={arguments.seed}",
        "visitors": arguments.visitors,
        "seconds between faults": arguments.gap,
        "seed": arguments.seed,
        "openfelt": version("openfelt"),
        "simulated hours": arguments.hours,
        "real seconds": round(time.monotonic() - begun),
        "disk": disk.kind,
        "traffic": dict(sorted(ledger.traffic.items())),
        "server starts": server.starts,
        "faults": dict(sorted(ledger.faults.items())),
        "refusals": dict(sorted(ledger.refusals.items())),
        "audit": found,
        "violations": ledger.violations,
    }


async def _show_progress(clock: SimulatedClock, ledger: Ledger) -> None:
    while True:
        await clock.sleep(HOUR)
        hands = sum(len(table.ends) for table in ledger.tables.values())
        faults, violations = sum(ledger.faults.values()), len(ledger.violations)
        print(
            f"{clock.now / HOUR:.0f} h: {hands} hands, {faults} faults, {violations} violations",
            file=sys.stderr,
            flush=True,
        )


def _check_rules(database: Path, ledger: Ledger) -> None:
    """Every stored hand must agree with the rules of its game."""
    words = [sys.executable, "-m", "openfelt", "history", "check", str(database)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        ledger.violation(f"felt history check: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
