"""The basis of all figures: is matplotlib installed, colours, an empty figure, writing the file."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from openfelt.core.errors import FeltError
from openfelt.core.files import not_written, prepare_folder

COLOURS = ("#0b6e99", "#c8553d", "#5b8c5a", "#7d5ba6")  # distinguishable without red-green vision


def has_matplotlib() -> bool:
    """Whether figures can be drawn."""
    return importlib.util.find_spec("matplotlib") is not None


def require_matplotlib() -> None:
    """Raise if matplotlib is missing; call it before hours of work."""
    if not has_matplotlib():
        raise FeltError("Figures need matplotlib, which is not installed: pip install 'openfelt[plots]'.")


def prepare_figure(path: Path) -> None:
    """Raise before the work starts if the figure could not be drawn or written at `path`."""
    if path.suffix != ".png":
        raise FeltError(f"--plot writes a .png file, not {path.name}.")
    require_matplotlib()
    prepare_folder(path.parent)


def new_figure(width: float, height: float) -> Any:
    """An empty figure of that size in inches, drawn without a display."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Any, path: Path, *, dpi: int = 110) -> None:
    """Write a PNG file without metadata, so that equal figures are equal files."""
    try:
        figure.savefig(path, dpi=dpi, metadata={"Software": None})
    except OSError as error:
        raise not_written(path, error) from error
