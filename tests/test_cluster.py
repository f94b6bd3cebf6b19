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
from openfelt.core import cluster, workers
from openfelt.core.errors import FeltError, FileError
from openfelt.core.workers import Job, as_done, in_order
from openfelt.measure.holdem.exploitability import Measure
from openfelt.measure.holdem.player import rule_player

STORE = 450 * 2**20  # bytes of a node's object store
TWELVE = Deck(4, 3)


@pytest.fixture(scope="module")
def nodes():
    """A head without CPUs and two nodes with one each."""
    pytest.importorskip("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        made.add_node(num_cpus=1, object_store_memory=STORE)
    yield made
    cluster.disconnect()
    made.shutdown()


@pytest.fixture(scope="module")
def address(nodes):
    return nodes.address


# ----------------------------------------------------------------- without Ray: threads, processes, sentences


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


def test_independent_learners_need_a_two_player_zero_sum_game():
    with pytest.raises(FeltError, match="two-player zero-sum"):
        felt.ExternalMCCFR("kuhn(players=3)", learners=2)


def assert_same_tables(one, other):
    assert one.iterations == other.iterations
    for name, table in one.tables().items():
        np.testing.assert_array_equal(table, other.tables()[name], name)
