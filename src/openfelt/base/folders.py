"""Where things are kept between runs that can be made again: compiled trees, machine code."""

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
