"""PyTorch, imported when a neural player is trained; nothing else needs it."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from openfelt.core.devices import CPU, CUDA
from openfelt.core.errors import FeltError


class _Torch:
    """PyTorch, imported at the first use of one of its names.

    lazy_loader would put a module into sys.modules at once, where scipy looks for PyTorch and imports it.
    """

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module("torch"), name)
        setattr(self, name, found)
        return found


torch: Any = _Torch()


def require_torch() -> None:
    """Raise FeltError if PyTorch is not installed."""
    if find_spec("torch") is None:
        raise FeltError("Neural players need PyTorch, which is not installed: pip install 'openfelt[torch]'.")


def torch_device(wanted: str) -> str:
    """`cpu` or `cuda`. Without a GPU, `auto` means the CPU, and `cuda` raises FeltError."""
    require_torch()
    if wanted == CPU or torch.cuda.is_available():
        return CPU if wanted == CPU else CUDA
    if wanted == CUDA:
        raise FeltError("PyTorch finds no GPU on this machine; use --device cpu.")
    return CPU
