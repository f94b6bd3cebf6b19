"""Names with parameters, as on the command line: kuhn(pot=8), mcts(c=2,iterations=1000)."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple


class Call(NamedTuple):
    """A name and its parameters."""

    word: str  # the name, in lower case
    positional: list[Any]
    keywords: dict[str, Any]


def parse_call(name: str) -> Call | None:
    """Parse a name whose parameters are numbers and quoted texts; None if it does not start with a word.

    Raises ValueError if the parameters cannot be parsed.
    """
    match = re.fullmatch(r"\s*([\w-]+)\s*(\(.*\))?\s*", name)
    if not match:
        return None
    try:
        call = ast.parse(f"f{match[2] or '()'}", mode="eval").body
        assert isinstance(call, ast.Call)
        positional = [ast.literal_eval(value) for value in call.args]
        keywords = {str(pair.arg): ast.literal_eval(pair.value) for pair in call.keywords}
    except (SyntaxError, ValueError, AssertionError, MemoryError, RecursionError):
        raise ValueError(name) from None
    return Call(match[1].lower(), positional, keywords)
