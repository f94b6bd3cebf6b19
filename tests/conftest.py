"""The cache of the tests, what workers share, and which files come first."""

import fcntl
import os
import shutil
from contextlib import contextmanager
from functools import cache

import pytest
from hypothesis import settings

from openfelt.core.disk_cache import load_or_build
from openfelt.core.user_folders import cache_folder

# Processes that tests start take the machine code of kernels from where this one keeps it, although their
# cache is another (`_own_cache`).
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder()))

settings.register_profile("openfelt", deadline=None)  # the first example may compile a kernel
settings.load_profile("openfelt")

TABLES = ("abstractions", "cards")  # folders of the cache with what is made of all hands

# Files that take long, in the order in which workers take them, so that no worker is left alone with one of
# them in the end. The first two need different kernels; others find those compiled.
LONGEST = (
    "test_holdem_learners",
    "test_learners",
    "test_table",
    "test_gpu",
    "test_exact",
    "test_previous_version",
    "test_search_holdem",
    "test_models",
    "test_exploitability_study",
    "test_browser",
    "test_web",
    "test_arena",
    "test_cli",
    "test_abstraction",
    "test_responses",
    "test_lobby",
    "test_response_studies",
    "test_cards",
    "test_search",
    "test_solvers",
    "test_stand_ins",
    "test_holdem_rules",
    "test_open_spiel",
    "test_analysis",
    "test_histories",
    "test_studies",
    "test_network",
    "test_statistics",
    "test_leaks",
    "test_bots",
)

NOTHING_SKIPPED = os.environ.get("CI") == "true"
OPTIONAL = ("pygambit",)  # built from source for minutes


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Begin with the longest files (the Makefile lets workers take them in this order).

    Tests that need the strengths of all hands are slow: these take a minute and gigabytes to compute.
    """
    for item in items:
        if "strengths" in item.fixturenames:
            item.add_marker("slow")
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return _without_skips((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return _without_skips((yield))


def _without_skips(report):
    """In CI a test that is skipped, for want of a program or package, is a failure."""
    if NOTHING_SKIPPED and report.skipped and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr)
        if not any(name in reason for name in OPTIONAL):
            report.outcome, report.longrepr = "failed", f"Nothing may be skipped in CI: {reason}"
    return report


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Tests keep compiled trees in a folder of their own.

    What is made of all hands is made once for all workers, and removed at the end: it takes gigabytes.
    """
    cache = tmp_path_factory.mktemp("cache")
    os.environ["OPENFELT_CACHE"] = str(cache)
    with _shared(tmp_path_factory, "users", "tables") as folder:
        for made in TABLES:
            (folder / made).mkdir(exist_ok=True)
            (cache / made).symlink_to(folder / made)
        (folder / cache.parent.name).touch()

    def keep_once(*what):
        with _shared(tmp_path_factory, "tables"):
            return load_or_build(*what)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("openfelt.cards.abstraction.abstraction.load_or_build", keep_once)
        yield
    with _shared(tmp_path_factory, "users", "tables") as folder:
        (folder / cache.parent.name).unlink()
        if sorted(path.name for path in folder.iterdir()) == sorted(TABLES):  # nobody else needs them
            shutil.rmtree(folder)


@pytest.fixture(scope="session")
def strengths(tmp_path_factory):
    """The strengths of all hands."""
    from openfelt.cards.strength_tables import strength_tables

    with _shared(tmp_path_factory, "tables"):
        return strength_tables()


@cache
def _made_up_buckets():
    from made_up_buckets import (
        MadeUpBuckets,  # imported late: numba reads NUMBA_CACHE_DIR when it is imported
    )

    return MadeUpBuckets()


@pytest.fixture(autouse=True)
def _quick_buckets(request, monkeypatch):
    """Fast tests play with made-up buckets, but for those of the buckets themselves."""
    true = any(map(request.node.get_closest_marker, ("slow", "true_buckets")))
    if true and not request.node.get_closest_marker("made_up_buckets"):
        yield
        return
    from openfelt.cards.abstraction.abstraction import Abstraction
    from openfelt.cards.abstraction.board_buckets import BoardBuckets
    from openfelt.opponents.models import domain

    made = _made_up_buckets()
    monkeypatch.setattr(Abstraction, "tables", lambda abstraction, **_: made.tables(abstraction))
    monkeypatch.setattr(Abstraction, "bucket", lambda abstraction, *cards: made.bucket(abstraction, *cards))
    if not request.node.get_closest_marker("true_board_buckets"):
        of = lambda boards, board, _=None: made.of(boards.abstraction, board)  # noqa: E731
        monkeypatch.setattr(BoardBuckets, "of", of)
    yield
    domain._cached_domain.cache_clear()  # it holds tables


# A browser, a table in this process, and windows at it; imported late, since few tests have a browser.


@pytest.fixture(scope="module")
def chrome():
    from browser import browser

    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return tmp_path_factory.mktemp("table") / "table.db"


@pytest.fixture(scope="module")
def server(database):
    from table_player import thread_server

    with thread_server(database) as found:
        yield found


@pytest.fixture
def visit(chrome, server):
    from browser import Visits

    with Visits(chrome, server.url) as visits:
        yield visits


@contextmanager
def _shared(tmp_path_factory, name, folder_name=""):
    """A folder that all workers of a run share, one at a time for each name."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / (folder_name or name)
    folder.mkdir(exist_ok=True)
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


@pytest.fixture(scope="module")
def no_lobby():
    """The lobby takes seconds to work out, and has tests of its own."""
    from openfelt.table.lobby.service import LobbyService

    whole, LobbyService.lobby = LobbyService.lobby, lambda _: {"games": []}
    yield
    LobbyService.lobby = whole
