"""Record files and seeded results with the installed version: python record.py FOLDER.

Only the command line and the table's protocol are used, so that any version can be recorded. The commands
of RESULTS run again in `test_previous_version.py`, which compares what they print.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

HOLDEM = "holdem(buckets='ehs:2',bets=3)"
RUNS = {
    "cfr+": ("leduc", "--iterations", "40"),
    "pcfr+": ("leduc", "--iterations", "40"),
    "outcome-mccfr": ("leduc", "--iterations", "3000"),
    "external-mccfr": ("leduc", "--iterations", "500"),
    "smooth-uct": ("leduc", "--iterations", "3000"),
    "chance-cfr": ("kuhn", "--iterations", "300"),
    "sampled-fictitious-play": ("kuhn", "--iterations", "300"),
    "uct": ("kuhn(players=3)", "--iterations", "300"),
    "dcfr": ("kuhn", "--iterations", "60"),
    "fictitious-play": ("kuhn", "--iterations", "60"),
}
TRAIN_MORE = {  # how far each run is resumed
    "cfr+": "60",
    "pcfr+": "60",
    "outcome-mccfr": "1000",
    "external-mccfr": "200",
    "smooth-uct": "1000",
    "chance-cfr": "100",
    "sampled-fictitious-play": "100",
    "uct": "100",
    "dcfr": "20",
    "fictitious-play": "20",
}
HOLDEM_RUN = ("--solver", "external-mccfr", "--iterations", "500", "--seed", "7")
HOLDEM_MORE = "100"
EXACT = ("exploit", "always-call", "--flops", "2", "--seed", "1", "--device", "cpu")
MATCH = ("match", "runs/pcfr+", "runs/smooth-uct", "--game", "leduc", "--hands", "400", "--seed", "5")

# What is compared, by name: commands in the folder of the files, whose JSON does not depend on the clock.
RESULTS: dict[str, tuple[str, ...]] = {
    "exploit": ("exploit", "runs/pcfr+"),
    "exploit, greedy": ("exploit", "runs/smooth-uct", "--greedy"),
    "exploit, three players": ("exploit", "runs/uct"),
    "value": ("value", "runs/pcfr+", "runs/smooth-uct"),
    "match, duplicate": MATCH,
    "match, fresh deals": (*MATCH, "--dealing", "fresh"),
    "match, AIVAT": (*MATCH, "--aivat"),
    "match, Python bots": (*MATCH, "--python"),
    "match, three players": (
        "match", "runs/uct", "random", "probe", "--game", "kuhn(players=3)", "--hands", "300"
    ),
    "match, hold'em": ("match", "always-raise", "probe", "--hands", "300", "--seed", "2"),
    "match, until better": (*MATCH[:-4], "--hands", "4000", "--until-better", "0.2"),
    "tournament": ("tournament", "always-call", "always-raise", "random", "--hands", "200", "--seed", "4"),
    "freeze-out": (
        "freezeout", "always-call", "always-raise", "--games", "4", "--stack", "200", "--limit", "100000"
    ),
    "respond, lp": ("respond", "kuhn", "--model", "always-call", "--p", "0.75", "--out", "{new}"),
    "respond, dbr": (
        "respond", "kuhn", "--model", "random", "--each", "--solver", "dbr", "--iterations", "50",
        "--out", "{new}",
    ),
    "respond, mcrnr": (
        "respond", "kuhn", "--model", "random", "--solver", "mcrnr", "--iterations", "500", "--seed", "3",
        "--out", "{new}",
    ),
    "value, hold'em": ("value", "runs/holdem", "always-raise", "--deals", "2000", "--seed", "1"),
    "exploit, hold'em": (*EXACT, "--resume", "exact"),
    "model, tally": ("model", "fit", "hands.phhs", "--player", "probe", "--kind", "tally", "--out", "{new}"),
    "model, score": ("model", "score", "models/frequencies", "hands.phhs", "--player", "probe"),
}  # fmt: skip


def felt(*words: str) -> dict[str, object]:
    """What a command prints as JSON."""
    from openfelt.cli.app import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main([*words, "--json"])
    assert code == 0, (words, code)
    found: dict[str, object] = json.loads(out.getvalue())
    return found


def result(name: str, new: Path) -> object:
    """What a command of RESULTS prints, without times and paths."""
    return timeless(felt(*(word.replace("{new}", str(new)) for word in RESULTS[name])))


def timeless(found: object) -> object:
    """The same without what differs from run to run: seconds, rates, and where it was written."""
    if isinstance(found, dict):
        return {key: timeless(each) for key, each in found.items() if not is_of_this_run(key)}
    return [timeless(each) for each in found] if isinstance(found, list) else found


def is_of_this_run(key: str) -> bool:
    """Whether a value of this name is the time that something took, or its place."""
    words = ("second", "per_s", "milliseconds", "slowest", "thinking", "time")
    return key in ("run", "runs", "out", "folder", "model", "policy") or any(word in key for word in words)


def versions() -> dict[str, str]:
    """What floating-point results may depend on in their last bits."""
    from importlib.metadata import version

    import llvmlite.binding

    processor = llvmlite.binding.get_host_cpu_name()
    return {"processor": processor, **{name: version(name) for name in ("numpy", "numba", "scipy")}}


def record(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    for solver, (game, *budget) in RUNS.items():
        felt("train", game, "--solver", solver, *budget, "--seed", "7", "--out", f"runs/{solver}")
    felt("train", HOLDEM, *HOLDEM_RUN, "--out", "runs/holdem")
    felt("match", "always-raise", "probe", "--hands", "120", "--seed", "2", "--history", "hands.phhs")
    felt("match", *MATCH[1:], "--history", "hands.db")
    subprocess.run(
        [sys.executable, "-m", "openfelt", "history", "convert", "hands.phhs", "hands.log"], check=True
    )
    felt(*MATCH, "--out", "match")
    felt("tournament", "always-call", "random", "--hands", "200", "--seed", "4", "--out", "tournament")
    felt("freezeout", "always-call", "always-raise", "--games", "2", "--stack", "200", "--limit", "100000",
         "--out", "freezeout")  # fmt: skip
    for kind in ("tally", "frequencies", "trees", "relational"):
        felt("model", "fit", "hands.phhs", "--player", "probe", "--kind", kind, "--out", f"models/{kind}")
    felt(*EXACT, "--resume", "exact")  # exact-begun is the same, stopped by Ctrl-C after the first flop
    play("table.db")
    results = {name: result(name, Path(f"new-{number}")) for number, name in enumerate(RESULTS)}
    resumed = {}
    for solver, more in TRAIN_MORE.items():
        shutil.copytree(f"runs/{solver}", "copy")
        game = RUNS[solver][0]
        facts = felt("train", game, "--solver", solver, "--iterations", more, "--out", "copy", "--resume")
        resumed[solver] = timeless(facts)
        shutil.copytree("copy/checkpoint", f"resumed/{solver}")
        shutil.rmtree("copy")
    shutil.copytree("runs/holdem", "copy")
    felt("train", HOLDEM, *HOLDEM_RUN[:2], "--iterations", HOLDEM_MORE, "--out", "copy", "--resume")
    shutil.copytree("copy/policy", "resumed/holdem")
    shutil.rmtree("copy")
    results["resumed"] = resumed
    results["recorded with"] = versions()
    Path("results.json").write_text(json.dumps(results, indent=1) + "\n")
    for new in Path().glob("new-*"):
        shutil.rmtree(new)
    Path("tournament/cross-table.png").unlink()


def play(database: str) -> None:
    """Sessions at the table: hands that are over, and one in each that is not."""
    from websockets.sync.client import connect

    words = [sys.executable, "-m", "openfelt", "play", "--no-browser", "--json", "--port", "0"]
    with Path("server.log").open("wb") as out:
        server = subprocess.Popen([*words, "--database", database], stdout=out)
    while not Path("server.log").read_bytes().endswith(b"}\n"):
        time.sleep(0.1)
    url = json.loads(Path("server.log").read_text())["url"]
    dice = random.Random(1)
    for game, bots in (
        ("leduc", ["random"]),
        ("holdem", ["always-call"]),
        ("kuhn(players=3)", ["random"] * 2),
    ):
        body = json.dumps({"game": game, "bots": bots}).encode()
        with urlopen(Request(f"{url.rstrip('/')}/api/sessions", body)) as answer:
            session = json.load(answer)["session"]
        with connect(f"ws://{urlsplit(url).netloc}/ws/{session}") as socket:
            state = json.loads(socket.recv())
            for number in range(1, 6):
                socket.send(
                    json.dumps({"do": "deal", "hand": number, "nonce": f"{number:032x}", "request": "r"})
                )
                state = json.loads(socket.recv())
                while not state["hand"]["over"] and number < 5:
                    action = dice.choice([each["word"] for each in state["hand"]["actions"]])
                    place = {"hand": number, "step": state["hand"]["step"]}
                    socket.send(json.dumps({"do": "act", **place, "action": action, "request": "r"}))
                    state = json.loads(socket.recv())
    server.terminate()
    server.wait()
    Path("server.log").unlink()


if __name__ == "__main__":
    record(Path(sys.argv[1]))
