import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Tests keep compiled trees in a folder of their own."""
    os.environ["OPENFELT_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def strengths(_own_cache):
    """The strengths of all hands, made once, and removed at the end: they take 0.6 GB."""
    from openfelt.cards.tables import strength_tables

    cache = Path(os.environ["OPENFELT_CACHE"])
    yield strength_tables()
    for made in ("cards", "abstractions"):
        shutil.rmtree(cache / made, ignore_errors=True)
