import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Tests keep compiled trees in a folder of their own."""
    os.environ["OPENFELT_CACHE"] = str(tmp_path_factory.mktemp("cache"))
