"""Checksums of our own source files: what a cached kernel, tree or result was made from.

The imports of a module are read from its text: lines that start with `from openfelt.`. Imports inside
functions do not count; kernels cannot use them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
IMPORT = re.compile(r"^from (openfelt[\w.]*) import (?:\(([^)]*)\)|(.*))", re.MULTILINE)
# In a module whose kernels call a function that is chosen by the type of an argument.
DISPATCHES = "@dispatched"
IMPLEMENTS = "@implements("  # in a module that provides such a function


@cache
def package_checksum() -> str:
    """Changes whenever any source file of the package does."""
    return _checksum(_modules())


@cache
def kernel_checksum(module: str) -> str:
    """Changes whenever the machine code of a module's kernels may change.

    That is, after an edit to the module, to one that it imports, directly or not, or, where its kernels
    dispatch on the type of an argument (`solve/traverse/episode.py`), to one that implements the function.
    The kernels of a module outside the package may call and be given anything of ours.
    """
    if module not in _modules():
        return package_checksum()
    found = imported_modules([module])
    if not found.isdisjoint(_mentioning(DISPATCHES)):
        found |= imported_modules(_mentioning(IMPLEMENTS))
    return _checksum(found)


@cache
def _mentioning(word: str) -> frozenset[str]:
    """The modules in whose source a word occurs."""
    return frozenset(name for name in _modules() if word in _source(name))


def imported_modules(modules: Iterable[str]) -> set[str]:
    """These modules of the package and all that they import, directly or not."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in _modules() and name not in found:
            found.add(name)
            waiting += _imports(name)
    return found


def _checksum(modules: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for name in sorted(modules):
        digest.update(_source(name).encode())
    return digest.hexdigest()[:16]


@cache
def _imports(module: str) -> list[str]:
    """Names of modules that it imports; `from a import b` may mean the module a.b, so that is named too."""
    found: list[str] = []
    for line in IMPORT.finditer(_source(module)):
        names = re.findall(r"\w+", line[2] or line[3])
        found += [line[1], *(f"{line[1]}.{name}" for name in names)]
    return found


@cache
def _source(module: str) -> str:
    """The text of a source file, as it was when it was first read."""
    return _modules()[module].read_text(encoding="utf-8")


@cache
def _modules() -> dict[str, Path]:
    """The source files of the package by module name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found
