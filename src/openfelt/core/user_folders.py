"""The folders for data that outlast a run: a cache for what can be computed again, and one for the rest."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_folder() -> Path:
    """The folder named by the variable OPENFELT_CACHE, or the user's cache folder."""
    if os.environ.get("OPENFELT_CACHE"):
        return Path(os.environ["OPENFELT_CACHE"])
    try:
        import platformdirs
    except ImportError:  # optional: the core also runs with only numpy, scipy and numba
        return Path(tempfile.gettempdir()) / "openfelt-cache"
    return Path(platformdirs.user_cache_dir("openfelt"))


def data_folder() -> Path:
    """The folder for sessions and other user data, named by OPENFELT_DATA, or the user's data folder."""
    if os.environ.get("OPENFELT_DATA"):
        return Path(os.environ["OPENFELT_DATA"])
    import platformdirs

    return Path(platformdirs.user_data_dir("openfelt"))
