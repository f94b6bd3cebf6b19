"""Units of work on a Ray cluster of several nodes: results to the bit, errors in one sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import openfelt as felt
from openfelt.cards.public_cards import Deck
from openfelt.cli.app import main
from openfelt.core import cluster
from openfelt.core.errors import FeltError
from openfelt.core.workers import Job, as_done, in_order
from openfelt.measure.holdem.exploitability import Measure
from openfelt.measure.holdem.player import rule_player

STORE = 900 * 2**20  # bytes of a node's object store
CLIENT_PORT = 10123
TWELVE = Deck(4, 3)


@pytest.fixture(scope="module")
def nodes():
    """A head without CPUs and two nodes with one each."""
    pytest.importorskip("ray")
    patience = {"RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S": "120"}  # on a busy machine
    safety = {"GRPC_ENABLE_FORK_SUPPORT": "0"}  # in docs/cluster.md
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0", **patience, **safety}
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
    head["ray_client_server_port"] = CLIENT_PORT
    made = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        made.add_node(num_cpus=1, object_store_memory=STORE)
    yield made
    cluster.disconnect()
    made.shutdown()


@pytest.fixture(scope="module")
def address(nodes):
    return nodes.address


# Without Ray: threads, processes, sentences.


def squares(base):
    return lambda unit, *shared: base + unit**2 + sum(shared)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("in_threads", [True, False])
def test_workers_of_this_machine_do_every_unit_once(count, in_threads):
    job = Job(squares, 100, in_threads=in_threads)
    assert sorted(as_done(job, range(7), count)) == [(unit, 100 + unit**2) for unit in range(7)]
    assert [result for _, result in in_order(job, range(7), count)] == [100 + unit**2 for unit in range(7)]
    assert list(in_order(job, [2], count, 5)) == [(0, 109)]
    assert list(as_done(job, [], count)) == []


def test_results_come_in_order_although_the_first_unit_takes_longest():
    job = Job(lambda _: lambda unit: (time.sleep(0.05 * (unit == 0)), unit)[1], None, in_threads=True)
    assert [place for place, _ in as_done(job, range(4), 2)][-1] == 0
    assert [place for place, _ in in_order(job, range(4), 2)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "text", ["", "ray:", "head", "ray://head", "ray://:10001", "head:port", "head:99999", "a b:1", "2"]
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(FeltError, match="A cluster is 'ray'"):
        cluster.find_address(text)


def test_an_address_may_be_in_a_file(tmp_path):
    (tmp_path / "head").write_text(" ray://head:10001\n")
    assert cluster.find_address(str(tmp_path / "head")) == "ray://head:10001"
    assert cluster.find_address("[::1]:6379") == "[::1]:6379"
    assert cluster.host_and_port("ray://[::1]:6379") == ("::1", 6379)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(FeltError, match="could not be read"):
        cluster.find_address(str(tmp_path / "bytes"))


def test_without_ray_a_sentence_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["match", "random", "probe", "--game", "kuhn", "--hands", "20", "--on", "ray"]) == 2
    assert "pip install 'openfelt[ray]'" in capsys.readouterr().err


class RayWhoseServersAbort:
    """The part of Ray with which one connects; the first servers of a client do not start."""

    exceptions = None

    def __init__(self, aborted):
        self.aborted = aborted
        self.tries = 0

    def is_initialized(self):
        return False

    def init(self, **_):
        self.tries += 1
        if self.tries <= self.aborted:
            raise ConnectionAbortedError("Starting Ray client server failed.")


@pytest.mark.parametrize("aborted", [0, 1, 2])
def test_a_server_for_a_client_that_does_not_start_is_asked_for_again(monkeypatch, aborted):
    ray = RayWhoseServersAbort(aborted)
    for name, module in {"ray": ray, "ray.exceptions": ray}.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(cluster, "_CONNECTED", [])
    if aborted < 2:
        assert cluster.connect("ray") is ray
    else:
        with pytest.raises(FeltError, match="could not be used: Starting Ray client server failed"):
            cluster.connect("ray")
    assert ray.tries == min(aborted + 1, 2)


def test_solvers_whose_iterations_depend_on_each_other_refuse_a_cluster():
    with pytest.raises(FeltError, match=r"cfr\+ does not train on a cluster"):
        felt.CFRPlus("kuhn", threads="ray")


@pytest.mark.parametrize("kind", [felt.ExternalMCCFR, felt.SmoothUCT])
def test_independent_learners_do_not_depend_on_threads_or_stops(kind):
    whole = kind("kuhn", learners=3, seed=5).run(3_000)
    parts = kind("kuhn", learners=3, seed=5, threads=2)
    for iterations in (1, 99, 2_900):
        parts.run(iterations)
    assert_same_tables(whole, parts)
    alone = kind("kuhn", seed=5).run(1_000)
    assert all((table[0] == whole.learned[name][0]).all() for name, table in alone.learned.items())


def test_solvers_without_learners_say_so():
    with pytest.raises(FeltError, match="only sampling solvers do"):
        felt.PCFRPlus("kuhn", learners=2)


def test_a_run_of_learners_is_resumed_with_as_many(tmp_path, capsys):
    words = [
        "train",
        "kuhn",
        "--solver",
        "external-mccfr",
        "--iterations",
        "500",
        "--learners",
        "3",
        "--json",
    ]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    assert main([*words, "--out", str(tmp_path / "run"), "--resume"]) == 0
    assert main([*words[:6], "--out", str(tmp_path / "run"), "--resume"]) == 2
    assert "holds 3 learners" in capsys.readouterr().err
    whole = felt.ExternalMCCFR("kuhn", learners=3).run(1_000)
    np.testing.assert_array_equal(felt.load_policy(tmp_path / "run").probabilities, whole.probabilities)


def test_independent_learners_need_a_two_player_zero_sum_game():
    with pytest.raises(FeltError, match="two-player zero-sum"):
        felt.ExternalMCCFR("kuhn(players=3)", learners=2)


def assert_same_tables(one, other):
    assert one.iterations == other.iterations
    for name, table in one.tables().items():
        np.testing.assert_array_equal(table, other.tables()[name], name)


# On a cluster, to the bit.


def rounded(result):
    """A result of a match without its times."""
    return [(score.name, score.won, score.by_seat, score.hands) for score in result.scores]


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"compiled": False, "hands": 3_000}, {"hands": 1_200_000}])
def test_a_match_is_the_same_on_a_cluster(address, options):
    alone = felt.match("random", "probe", game="leduc", **options)
    assert rounded(felt.match("random", "probe", game="leduc", processes=address, **options)) == rounded(
        alone
    )


@pytest.mark.slow
@pytest.mark.parametrize("where", [f"ray://127.0.0.1:{CLIENT_PORT}", "ray"])
def test_a_match_through_the_client_and_on_a_cluster_of_its_own(nodes, where):
    """In a process of its own, as a command is."""
    words = ["match", "random", "probe", "--game", "kuhn", "--hands", "2000", "--python", "--json"]
    command = [sys.executable, "-m", "openfelt", *words]
    found = []
    for more in ([], ["--on", where]):
        ran = subprocess.run([*command, *more], capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stderr
        found.append([each["won"] for each in json.loads(ran.stdout)["participants"]])
    assert found[0] == found[1]


@pytest.mark.slow
def test_bots_in_files_travel_with_the_match(address, tmp_path, monkeypatch):
    """Their files are below the current folder of this process, which is not that of the nodes."""
    monkeypatch.chdir(tmp_path)
    felt.save_policy(felt.uniform_policy("kuhn"), "runs/uniform")
    Path("mine.py").write_text(
        "import openfelt\n"
        "class Last(openfelt.Bot):\n"
        "    def act(self, view, dice, clock):\n"
        "        return view.actions[-1]\n"
    )
    bots = "runs/uniform", "mine.py:Last"
    alone = felt.match(*bots, game="kuhn", hands=1_000)
    assert rounded(felt.match(*bots, game="kuhn", hands=1_000, processes=address)) == rounded(alone)


@pytest.mark.slow
def test_a_tournament_is_the_same_on_a_cluster_and_goes_on_alone(address, tmp_path):
    bots, how = ("random", "probe", "always-call"), {"game": "leduc", "hands": 2_000, "compiled": False}
    alone = felt.tournament(*bots, **how)
    assert felt.tournament(*bots, **how, processes=address).csv() == alone.csv()
    played = []

    def stop(hands):
        played.append(hands)
        if sum(played) >= 3_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        felt.tournament(*bots, **how, processes=address, folder=tmp_path, progress=stop)
    lines = sum(len(path.read_text().splitlines()) for path in tmp_path.rglob("parts.jsonl"))
    assert 3_000 // 400 <= lines < 15
    assert felt.tournament(*bots, **how, folder=tmp_path).csv() == alone.csv()


@pytest.mark.slow
def test_errors_of_units_arrive_as_they_are(address, tmp_path):
    (tmp_path / "bad.py").write_text(
        "import openfelt\n"
        "class Bad(openfelt.Bot):\n"
        "    def act(self, view, dice, clock):\n"
        "        raise ValueError('no idea')\n"
    )
    with pytest.raises(felt.FeltError, match="no idea"):
        felt.match(
            f"{tmp_path}/bad.py:Bad", "random", game="kuhn", hands=2_000, strict=True, processes=address
        )


@pytest.mark.slow
@pytest.mark.parametrize("leaks", [False, True])
def test_exploitability_is_the_same_on_a_cluster_and_goes_on_alone(address, tmp_path, leaks):
    def measure(**options):
        return Measure(rule_player("random"), deck=TWELVE, device="cpu", leaks=leaks, **options)

    class Enough(Exception):
        pass

    def stop(share, done=[]):  # noqa: B006
        done.append(share)
        if sum(done) > 0.4:
            raise Enough

    alone, on_cluster = measure(), measure(threads=address)
    expected, found = alone.run(), on_cluster.run()
    np.testing.assert_array_equal(on_cluster.values, alone.values)
    assert (found.won, found.error) == (expected.won, expected.error)
    with pytest.raises(Enough):
        measure(threads=address, folder=tmp_path / "flops").run(stop)
    rest = measure(folder=tmp_path / "flops")
    assert 0.3 < rest.done.mean() < 0.7
    assert rest.run().won == expected.won
    for seat in range(2 if leaks else 0):
        for one, other in zip(rest.gained[seat], alone.gained[seat], strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_a_study_is_the_same_on_a_cluster_and_goes_on_alone(address, tmp_path):
    from openfelt.studies.registry import find_study
    from openfelt.studies.training_runs import TrainingRuns

    study = find_study("hs14-figure-1")

    def runs(folder):
        return TrainingRuns(study, folder, 2, 0, (1_000, 3_000))

    alone = runs(tmp_path / "alone").train()
    done = []
    found = runs(tmp_path / "far").train(threads=address, progress=done.append)
    assert sum(done) == 3_000 * 2 * len(study.solvers)
    assert found.values.keys() == alone.values.keys()
    for key, table in alone.values.items():
        np.testing.assert_array_equal(found.values[key], table)
    next(iter((tmp_path / "far").iterdir())).unlink()  # one run is missing
    rest = runs(tmp_path / "far").train()
    assert all((rest.values[key] == table).all() for key, table in alone.values.items())


@pytest.mark.slow
def test_boards_of_a_spot_and_files_of_a_model_are_done_on_a_cluster(address, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["spot", "--oop", "AA,KK", "--ip", "QQ", "--pot", "20", "--stack", "20", "--bets", "a", "--json"]
    words += ["--boards", "2c3d4h8s9s,2c3d4h8sTs,2c3d4h8sJs"]
    assert main([*words, "--csv", "alone.csv"]) == 0
    assert main([*words, "--csv", "far.csv", "--on", address]) == 0
    first, second = (Path(name).read_text().splitlines() for name in ("alone.csv", "far.csv"))
    assert {without_seconds(line) for line in first} == {without_seconds(line) for line in second}
    Path("games").mkdir()
    for seed in range(3):
        history = f"games/{seed}.db"  # PHH has no Leduc
        felt.match("probe", "random", game="leduc", hands=200, seed=seed, history=history)
    fit = ["model", "fit", "games", "--player", "probe", "--kind", "tally", "--game", "leduc", "--json"]
    assert main([*fit, "--out", "alone"]) == 0
    assert main([*fit, "--out", "far", "--on", address]) == 0
    capsys.readouterr()
    files = [sorted(Path(name).rglob("*.npy")) for name in ("alone", "far")]
    assert files[0]
    assert [path.name for path in files[0]] == [path.name for path in files[1]]  # which hold checksums
    assert main([*fit[:4], "nobody", *fit[5:], "--out", "none", "--on", address]) == 2
    assert "There is no player 'nobody'" in capsys.readouterr().err


def without_seconds(line):
    cells = line.split(",")
    return tuple(cells[:7] + cells[8:])


# Training on a cluster.


@pytest.mark.slow
@pytest.mark.parametrize("kind", [felt.ExternalMCCFR, felt.SmoothUCT])
def test_learners_on_a_cluster_are_those_of_one_machine(address, tmp_path, kind):
    alone = kind("leduc", learners=2, seed=3).run(20_000)
    far = kind("leduc", threads=address, seed=3).run(12_000)
    assert far.learners == 2  # the nodes have two CPUs
    far.save(tmp_path / "checkpoint")
    rest = kind("leduc", learners=2, seed=3)
    rest.resume(tmp_path / "checkpoint")
    assert_same_tables(rest.run(8_000), alone)
    if kind is felt.ExternalMCCFR:
        assert_same_tables(alone, kind("leduc", threads=2, seed=3).run(20_000))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [felt.CFRBR, felt.PublicChanceCFR])
def test_batches_of_boards_on_a_cluster_are_those_of_one_machine(address, kind):
    game, options = "holdem(buckets='ehs:3')", {"deck": TWELVE, "seed": 2}
    alone = kind(game, in_flight=4, **options).run(10)
    assert_same_tables(kind(game, in_flight=4, threads=address, **options).run(10), alone)
    if kind is felt.CFRBR:
        far = kind(game, in_flight=4, threads=2, **options).run(10)
        assert far.opponent_value == alone.opponent_value


@pytest.mark.slow
@pytest.mark.parametrize("kind", [felt.CFRBR, felt.PublicChanceCFR])
def test_a_batch_of_one_board_is_an_iteration(kind):
    """Up to rounding, and for CFR-BR before a tie between actions is broken otherwise."""
    plain, batched = (kind("holdem(buckets='ehs:3')", deck=TWELVE) for _ in range(2))
    batched._advance = batched._advance_in_batches
    plain.run(2)
    batched.run(2)
    for name, table in plain.tables().items():
        np.testing.assert_allclose(batched.tables()[name], table, rtol=1e-9, atol=1e-9 * np.abs(table).max())


# Nodes that differ, and the connection.


@contextmanager
def other_cluster(**node):
    from ray.cluster_utils import Cluster

    cluster.disconnect()
    small = 100 * 2**20
    head = {"num_cpus": 0, "object_store_memory": small, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    made.add_node(num_cpus=1, object_store_memory=small, **node)
    try:
        yield made.address
    finally:
        cluster.disconnect()
        made.shutdown()


@pytest.mark.slow
def test_a_node_with_other_sources_is_refused(nodes, tmp_path):
    shutil.copytree(Path(felt.__file__).parent, tmp_path / "openfelt")
    with (tmp_path / "openfelt" / "core" / "errors.py").open("a") as file:
        file.write("# changed\n")
    refused = pytest.raises(FeltError, match=r"has OpenFelt .* with sources .*install the same version")
    with other_cluster(env_vars={"PYTHONPATH": str(tmp_path)}) as there, refused:
        felt.match("random", "probe", game="kuhn", hands=1_000, processes=there)


@pytest.mark.slow
def test_a_node_without_openfelt_is_refused(nodes, tmp_path):
    (tmp_path / "openfelt").mkdir()
    (tmp_path / "openfelt" / "__init__.py").write_text("")
    refused = pytest.raises(FeltError, match="has no OpenFelt")
    with other_cluster(env_vars={"PYTHONPATH": str(tmp_path)}) as there, refused:
        felt.match("random", "probe", game="kuhn", hands=1_000, processes=there)


@pytest.mark.slow
def test_gpus_are_given_to_units_one_each(address):
    def open_gpu(_):  # in the test, so that it is pickled whole: nodes have no tests
        return lambda unit: os.environ["CUDA_VISIBLE_DEVICES"]

    job = Job(open_gpu, None, gpu=True)
    with pytest.raises(FeltError, match="has no GPU"):
        list(as_done(job, range(2), address))
    with other_cluster(num_gpus=2) as there:
        assert {gpu for _, gpu in as_done(job, range(4), there)} <= {"0", "1"}


@pytest.mark.slow
def test_another_version_of_ray_gets_a_sentence(address, monkeypatch):
    import ray

    cluster.disconnect()
    monkeypatch.setattr(ray, "__version__", "2.1.0")
    with pytest.raises(FeltError, match="has another version of Ray or Python"):
        cluster.connect(address)


@pytest.mark.slow
def test_what_listens_but_is_not_ray_gets_a_sentence():
    import socket

    pytest.importorskip("ray")
    cluster.disconnect()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(FeltError, match=f"There is no Ray cluster at ray://127.0.0.1:{port}"):
        cluster.connect(f"ray://127.0.0.1:{port}")


@pytest.mark.slow
def test_a_damaged_setup_is_detected():
    pytest.importorskip("ray")
    package = cluster.pack(Job(squares, np.arange(5_000)))
    assert (cluster.unpack(package)(2) == 4 + np.arange(5_000)).all()
    package.arrays[0].copy()
    arrays = (package.arrays[0].copy(),)
    arrays[0][7] ^= 1
    with pytest.raises(FeltError, match="arrived damaged"):
        cluster.unpack(cluster.Package(package.job, arrays, package.files, package.checksum))


@pytest.mark.slow
def test_lost_workers_and_nodes_are_replaced(nodes, tmp_path):
    """A unit whose worker ends, and one whose node is removed, are done again; results are counted once."""

    def open_mortal(folder):
        def run(unit):
            time.sleep(0.3)
            mark = Path(folder) / "died"
            if unit == 5 and not mark.exists():
                mark.touch()
                os._exit(1)
            return unit**2

        return run

    job = Job(open_mortal, str(tmp_path))
    removed = False
    found = {}
    for place, result in as_done(job, range(12), nodes.address):
        assert place not in found
        found[place] = result
        if not removed:
            removed = True
            nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)
            nodes.add_node(num_cpus=1, object_store_memory=STORE)
    assert found == {place: place**2 for place in range(12)}
    assert (tmp_path / "died").exists()


@pytest.mark.slow
@pytest.mark.parametrize("ours", [True, False])
def test_closing_the_iterator_ends_the_units(address, tmp_path, ours):
    """Also in a program that has connected to the cluster itself and remains so. Later jobs have room."""
    import ray

    def open_endless(setup):
        def run(unit):
            while unit:
                (tmp_path / str(unit)).write_text(str(time.monotonic()))
                time.sleep(0.05)
            return len(setup)

        return run

    half = STORE // 16  # numbers that fill half of a node's store
    cluster.disconnect()
    if not ours:
        ray.init(address, log_to_driver=False)
    results = as_done(Job(open_endless, np.zeros(half)), [0, 1, 2, 3], address)
    assert next(results) == (0, half)
    while not any(tmp_path.iterdir()):
        time.sleep(0.1)
    results.close()
    assert ray.is_initialized() is not ours
    last, deadline = None, time.monotonic() + 60
    while last != (written := [path.stat().st_mtime_ns for path in tmp_path.iterdir()]):
        assert time.monotonic() < deadline, "units are still under way"
        last = written
        time.sleep(3)
    assert len(written) < 3  # one unit was not begun
    again = as_done(Job(open_endless, np.ones(half)), [0] * 4, address)
    assert sorted(again) == [(place, half) for place in range(4)]
    ray.shutdown()


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(address, tmp_path):
    words = ["match", "random", "probe", "--game", "leduc", "--python", "--hands", "400000", "--out", "m"]
    command = [sys.executable, "-m", "openfelt", *words]
    environment = {**os.environ, "PYTHONPATH": str(Path(felt.__file__).parent.parent)}
    started = subprocess.Popen(
        [*command, "--on", address], cwd=tmp_path, env=environment, stderr=subprocess.PIPE
    )
    parts = tmp_path / "m" / "parts.jsonl"
    deadline = time.monotonic() + 120
    while not parts.exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    started.send_signal(2)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 130, errors.decode()
    assert b"Traceback" not in errors
    done = [json.loads(line)["first"] for line in parts.read_text().splitlines()]
    assert len(set(done)) == len(done) > 0


# The files of docs/cluster/.

FILES = Path(__file__).parents[1] / "docs" / "cluster"


@pytest.mark.slow
def test_the_file_for_ray_up_has_the_form_that_ray_wants():
    pytest.importorskip("ray")
    import yaml
    from ray.autoscaler._private.util import prepare_config, validate_config

    written = yaml.safe_load((FILES / "ssh.yaml").read_text())
    validate_config(prepare_config(written))


@pytest.mark.slow
def test_the_file_for_kubernetes_is_a_ray_cluster():
    pytest.importorskip("ray")
    import yaml

    written = yaml.safe_load((FILES / "kuberay.yaml").read_text())
    assert (written["apiVersion"], written["kind"]) == ("ray.io/v1", "RayCluster")
    groups = [written["spec"]["headGroupSpec"], *written["spec"]["workerGroupSpecs"]]
    images = [box["image"] for group in groups for box in group["template"]["spec"]["containers"]]
    assert len(set(images)) == 1
    assert images[0].endswith(written["spec"]["rayVersion"])


def test_the_script_for_slurm_starts_a_node_on_each_host_and_the_command_on_the_first(tmp_path):
    """With stand-ins for Slurm and Ray that write down how they are called."""
    log = tmp_path / "log"
    stand_ins = {
        "scontrol": "printf 'one\\ntwo\\nthree\\n'",
        "srun": 'while [ "${1#--}" != "$1" ]; do case $1 in --nodelist=*) on=${1#*=};; esac; shift; done\n'
        'if [ "$1" = hostname ]; then echo 127.0.0.1; else echo "$on $*" >> "$LOG"; fi',
        "seq": "echo 1",
        "sleep": "true",
    }
    for name, text in stand_ins.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / name).chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "LOG": str(log),
        "SLURM_JOB_NODELIST": "all",
        "SLURM_CPUS_PER_TASK": "4",
    }
    words = ["bash", str(FILES / "slurm.sh"), "exploit", "default"]
    subprocess.run(words, env=environment, check=True)
    deadline = time.monotonic() + 60
    while len(log.read_text().splitlines()) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)  # the nodes start in the background
    assert sorted(log.read_text().splitlines()) == [
        "one felt exploit default --on 127.0.0.1:6379",
        "one ray start --head --port=6379 --num-cpus=4 --block",
        "three ray start --address=127.0.0.1:6379 --num-cpus=4 --block",
        "two ray start --address=127.0.0.1:6379 --num-cpus=4 --block",
    ]
