"""File formats that studies share: CSV text, cached JSON results, names of files."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from openfelt.core.files import write_text


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
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored["asked"] == request:
            return stored["answer"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    answer = compute()
    write_text(path, json.dumps({"asked": request, "answer": answer}))
    return answer
