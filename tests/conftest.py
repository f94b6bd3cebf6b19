"""The cache of the tests, what workers share, and which files come first."""

import fcntl
import os
import shutil
from contextlib import contextmanager

import pytest

from openfelt.core.disk_cache import load_or_build
from openfelt.core.folders import cache_folder

# Processes that tests start take the machine code of kernels from where this one keeps it, although their
# cache is another (`_own_cache`).
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder()))

TABLES = ("abstractions", "cards")  # folders of the cache with what is made of all hands

# The files that take longest, the longest first: none of them is then what all others wait for in the end.
# Those of the browser wait for 20 seconds at most, and come when the kernels of the table are compiled.
LONGEST = (
    "test_holdem_learners",
    "test_table",
    "test_learners",
    "test_gpu",
    "test_exact",
    "test_exploitability_study",
    "test_browser",
    "test_search_holdem",
    "test_models",
    "test_stand_ins",
    "test_web",
    "test_arena",
    "test_cli",
    "test_abstraction",
    "test_responses",
    "test_lobby",
    "test_holdem_rules",
    "test_open_spiel",
    "test_response_studies",
    "test_analysis",
    "test_solvers",
    "test_cards",
    "test_studies",
    "test_search",
    "test_histories",
    "test_network",
)


def pytest_collection_modifyitems(items):
    """Begin with the longest files (`make test` gives them out in this order)."""
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Tests keep compiled trees in a folder of their own.

    What is made of all hands is made once for all workers, and removed at the end: it takes gigabytes.
    """
    cache = tmp_path_factory.mktemp("cache")
    os.environ["OPENFELT_CACHE"] = str(cache)
    with _shared(tmp_path_factory, "tables") as folder:
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
    with _shared(tmp_path_factory, "tables") as folder:
        (folder / cache.parent.name).unlink()
        if sorted(path.name for path in folder.iterdir()) == sorted(TABLES):  # nobody else needs them
            shutil.rmtree(folder)


@pytest.fixture(scope="session")
def strengths(tmp_path_factory):
    """The strengths of all hands."""
    from openfelt.cards.strength_tables import strength_tables

    with _shared(tmp_path_factory, "tables"):
        return strength_tables()


@contextmanager
def _shared(tmp_path_factory, name):
    """A folder that all workers of a run share, one at a time."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
