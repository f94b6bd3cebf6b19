"""The cache of the tests, what workers share, and which files come first."""

import fcntl
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from openfelt.base.folders import cache_folder

# Processes that tests start take the machine code of kernels from where this one keeps it, although their
# cache is another (`_own_cache`).
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder()))

# The files that take longest, the longest first: none of them is then what all others wait for in the end.
# Those of the browser wait for 20 seconds at most, and come when the kernels of the table are compiled.
LONGEST = (
    "test_holdem_learners",
    "test_learners",
    "test_table",
    "test_models",
    "test_browser",
    "test_holdem_rules",
    "test_web",
    "test_search_holdem",
    "test_abstraction",
    "test_cli",
    "test_arena",
    "test_gpu",
    "test_response_studies",
    "test_exact",
    "test_responses",
    "test_open_spiel",
    "test_network",
    "test_lobby",
)


def pytest_collection_modifyitems(items):
    """Begin with the longest files (`make test` gives them out in this order)."""
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Tests keep compiled trees in a folder of their own."""
    os.environ["OPENFELT_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def strengths(_own_cache, tmp_path_factory):
    """The strengths of all hands, made once for all workers, and removed at the end: they take 0.6 GB."""
    from openfelt.cards.tables import strength_tables

    cache = Path(os.environ["OPENFELT_CACHE"])
    with _shared(tmp_path_factory, "strengths") as folder:
        if not (cache / "cards").exists():  # else a test was here before
            (folder / "cards").mkdir(exist_ok=True)
            (cache / "cards").symlink_to(folder / "cards")
        (folder / cache.parent.name).touch()
        tables = strength_tables()
    yield tables
    with _shared(tmp_path_factory, "strengths") as folder:
        (folder / cache.parent.name).unlink()
        if [path.name for path in folder.iterdir()] == ["cards"]:  # nobody else needs them
            shutil.rmtree(folder / "cards")
    for made in ("cards", "abstractions"):
        if (cache / made).is_symlink():
            (cache / made).unlink()
        shutil.rmtree(cache / made, ignore_errors=True)


@contextmanager
def _shared(tmp_path_factory, name):
    """A folder that all workers of a run share, one at a time."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
