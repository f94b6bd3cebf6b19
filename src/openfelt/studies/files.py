"""File formats that studies share: CSV text, cached JSON results, names of files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from openfelt.core.errors import FileError
from openfelt.core.files import read_sealed, write_sealed


def csv_text(*lines: Sequence[Any], rows: Iterable[Sequence[Any]] = ()) -> str:
    """CSV of some lines, then of rows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(lines)
    writer.writerows(rows)
    return text.getvalue()


def slug(text: str) -> str:
    """The text as part of a file name: letters and digits with hyphens between."""
    return re.sub(r"[^0-9A-Za-z]+", "-", text).strip("-")


def cached_json(path: Path, request: dict[str, Any], compute: Callable[[], Any]) -> Any:
    """The answer stored at `path` if it is to the same request; else compute and store it."""
    try:
        stored = read_sealed(path)
        if stored.get("asked") == request and "answer" in stored:
            return stored["answer"]
    except FileError:
        pass
    answer = compute()
    write_sealed(path, {"asked": request, "answer": answer})
    return answer
