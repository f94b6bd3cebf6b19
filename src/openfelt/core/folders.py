"""Where things are kept between runs: what can be made again (trees, machine code), and what cannot."""

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
    except ImportError:  # the core also runs where there is only numpy, scipy and numba
        return Path(tempfile.gettempdir()) / "openfelt-cache"
    return Path(platformdirs.user_cache_dir("openfelt"))


def data_folder() -> Path:
    """Where things are kept that nobody can make again: the folder named by OPENFELT_DATA, or the user's."""
    if os.environ.get("OPENFELT_DATA"):
        return Path(os.environ["OPENFELT_DATA"])
    import platformdirs

    return Path(platformdirs.user_data_dir("openfelt"))
