"""Kills at random moments while jobs run on a local Ray cluster.

    python benchmarks/cluster_kills.py --kills 60 --out benchmarks/results/cluster_kills.json

Each job runs in a process of its own, on three nodes with one CPU each. Until it ends, after a random time
one of these is killed: a worker process, a whole node (a new one replaces it), or the job's own process,
which is started again with the same folder. The job's result must equal that of one machine to the bit, and
its folder must hold every unit exactly once.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import openfelt as felt
from openfelt.cards.public_cards import Deck
from openfelt.core.workers import Workers
from openfelt.measure.holdem.exploitability import Measure
from openfelt.measure.holdem.player import rule_player
from openfelt.studies.registry import find_study
from openfelt.studies.training_runs import TrainingRuns

WORKER, NODE, DRIVER = "worker", "node", "driver"
NODES = 3
STORE = 600 * 2**20  # bytes of a node's object store
LONGEST_PAUSE = 20.0  # seconds between kills
MOST_KILLS = 12  # in one job, so that it ends
HANDS, TABLE_HANDS = 40_000, 8_000
BOTS = ("random", "always-call", "probe", "always-raise")
STUDY, RUNS, EPISODES = "hs14-figure-1", 4, (20_000, 100_000)


def match(workers: Workers, folder: Path) -> Any:
    """Scores of a match, played one decision at a time."""
    result = felt.match(
        "random", "probe", game="leduc", hands=HANDS, compiled=False, processes=workers, folder=folder
    )
    return [[score.won.mean, score.won.interval()] for score in result.scores]


def tournament(workers: Workers, folder: Path) -> Any:
    """The table of a tournament."""
    cup = felt.tournament(
        *BOTS, game="leduc", hands=TABLE_HANDS, compiled=False, processes=workers, folder=folder
    )
    return cup.csv()


def exploit(workers: Workers, folder: Path) -> Any:
    """What a best response wins in hold'em with twelve cards."""
    measure = Measure(rule_player("random"), deck=Deck(4, 3), device="cpu", threads=workers, folder=folder)
    return measure.run().won


def study(workers: Workers, folder: Path) -> Any:
    """Curves of a study."""
    runs = TrainingRuns(find_study(STUDY), folder, RUNS, 0, EPISODES)
    curves = runs.train(threads=workers)
    return {" ".join(key): table.tolist() for key, table in curves.values.items()}


JOBS = {each.__name__: each for each in (match, tournament, exploit, study)}


def units_once(job: str, folder: Path) -> bool:
    """Whether the folder of a finished job holds each unit exactly once."""
    if job in ("match", "tournament"):
        for parts in folder.rglob("parts.jsonl"):
            first = [json.loads(line)["first"] for line in parts.read_text().splitlines()]
            hands = HANDS if job == "match" else TABLE_HANDS
            if sorted(first) != list(range(0, hands // 2, 200)):
                return False
    return True


def run_job(job: str, address: str, folder: Path, cluster: Any, draw: random.Random) -> dict[str, Any]:
    """Run a job to its end under kills."""
    kills: list[str] = []
    begun = time.monotonic()
    answer = folder.with_suffix(".json")
    driver = start(job, address, folder, answer)
    while True:
        try:
            pause = draw.uniform(0.2, LONGEST_PAUSE) if len(kills) < MOST_KILLS else None
            if driver.wait(pause) == 0:
                break
            raise RuntimeError(f"{job} failed: {Path(f'{answer}.err').read_text()[-2000:]}")
        except subprocess.TimeoutExpired:
            pass
        what = draw.choice((WORKER, WORKER, NODE, DRIVER))
        if what == WORKER and not kill_worker(draw):
            continue
        if what == NODE:
            lost = draw.choice(sorted(cluster.worker_nodes, key=str))
            cluster.remove_node(lost, allow_graceful=False)
            cluster.add_node(num_cpus=1, object_store_memory=STORE)
        if what == DRIVER:
            driver.send_signal(signal.SIGKILL)
            driver.wait()
            driver = start(job, address, folder, answer)
        kills.append(what)
    seconds = time.monotonic() - begun
    return {"job": job, "kills": kills, "seconds": round(seconds, 1), "found": json.loads(answer.read_text())}


def start(job: str, address: str, folder: Path, answer: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--job", job, "--on", address, "--folder", str(folder)]
    with Path(f"{answer}.err").open("ab") as errors:
        return subprocess.Popen([*command, "--answer", str(answer)], stderr=errors)


def kill_worker(draw: random.Random) -> bool:
    """Kill a process that does a unit, if there is one."""
    titles = {int(path.parent.name): read(path) for path in Path("/proc").glob("[0-9]*/cmdline")}
    busy = [number for number, title in titles.items() if title.startswith("ray::_do") and is_ours(number)]
    if not busy:
        return False
    try:
        os.kill(draw.choice(sorted(busy)), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def is_ours(number: int) -> bool:
    """Whether a process descends from this one."""
    while number > 1 and number != os.getpid():
        facts = read(Path(f"/proc/{number}/stat")).rpartition(")")[2].split()
        number = int(facts[1]) if facts else 0
    return number == os.getpid()


def read(path: Path) -> str:
    """A file of /proc; empty if the process has ended."""
    try:
        return path.read_text()
    except OSError:
        return ""


def plain(result: Any) -> Any:
    """A result as it is read from JSON."""
    return json.loads(json.dumps(result))


def main() -> None:
    """Run jobs until there were enough kills."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/cluster_kills.json"))
    for name in ("--job", "--on", "--folder", "--answer"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.job:
        found = JOBS[asked.job](asked.on, Path(asked.folder))
        Path(asked.answer).write_text(json.dumps(found))
        return
    from ray.cluster_utils import Cluster

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    draw, rounds = random.Random(asked.seed), []
    with tempfile.TemporaryDirectory() as temporary:
        alone = {name: plain(job(1, Path(temporary) / f"{name}-alone")) for name, job in JOBS.items()}
        head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(NODES):
            cluster.add_node(num_cpus=1, object_store_memory=STORE)
        while sum(len(each["kills"]) for each in rounds) < asked.kills:
            name = list(JOBS)[len(rounds) % len(JOBS)]
            folder = Path(temporary) / f"{name}-{len(rounds)}"
            done = run_job(name, cluster.address, folder, cluster, draw)
            done["equal"] = done.pop("found") == alone[name]
            done["units_once"] = units_once(name, folder)
            rounds.append(done)
            print(json.dumps(done), flush=True)
            kills = Counter(kill for each in rounds for kill in each["kills"])
            right = all(each["equal"] and each["units_once"] for each in rounds)
            about = {"kills": sum(kills.values()), **kills, "jobs": len(rounds), "all_right": right}
            asked.out.write_text(json.dumps({**about, "seed": asked.seed, "rounds": rounds}, indent=1) + "\n")
        cluster.shutdown()


if __name__ == "__main__":
    main()
