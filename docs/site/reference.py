"""The reference, made from the code: a page for the public names of each package and for each command."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from pathlib import Path
from typing import Any

import openfelt
from openfelt.cli.app import COMMANDS, command_parser
from openfelt.solve.registry import SOLVERS

STUB = Path(openfelt.__file__).with_suffix(".pyi")
TITLES = {
    "games": "Games",
    "policy": "Policies",
    "solve": "Solvers",
    "measure": "Exact measurement",
    "cards": "Cards and abstraction",
    "spots": "Spots",
    "hands": "Hand histories",
    "opponents": "Opponent models and counter-strategies",
    "bots": "Bots and search",
    "arena": "Matches and tournaments",
    "core": "Errors",
}
RESULT = re.compile(r"[A-Z]\w+")


def public_names() -> dict[str, str]:
    """The full name of each public name, by the name under which `openfelt` offers it."""
    found = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            for each in node.names:
                found[each.asname or each.name] = f"openfelt.{node.module}.{each.name}"
    return found


def packages() -> dict[str, dict[str, str]]:
    """The public names by package, in the order of `TITLES`; others come last."""
    names = public_names()
    order = dict.fromkeys([*TITLES, *(full.split(".")[1] for full in names.values())])
    grouped = {
        package: {name: full for name, full in names.items() if full.split(".")[1] == package}
        for package in order
    }
    return {package: found for package, found in grouped.items() if found}


def pages() -> dict[str, str]:
    """All pages of the reference by their places."""
    written = {"reference/index.md": _overview(), "reference/commands/index.md": _commands()}
    for package, names in packages().items():
        written[f"reference/{package}.md"] = _package(_title(package), names)
    for command in COMMANDS:
        written[f"reference/commands/{command}.md"] = _command(command)
    return written


def nav() -> list[Any]:
    """The reference in the navigation."""
    commands = [f"reference/commands/{command}.md" for command in sorted(COMMANDS)]
    return [
        "reference/index.md",
        *({_title(package): f"reference/{package}.md"} for package in packages()),
        {"Commands": ["reference/commands/index.md", *commands]},
    ]


def _title(package: str) -> str:
    return TITLES.get(package, package.capitalize())


def _overview() -> str:
    lines = [
        "# Reference",
        "",
        "Every public name of `import openfelt as felt`, and every [command](commands/index.md) of `felt`.",
        "The pages are made from the docstrings and help texts; the tests run the examples.",
    ]
    for package, names in packages().items():
        lines += ["", f"## {_title(package)}", "", "| name | |", "|---|---|"]
        for name, full in sorted(names.items(), key=lambda each: each[0].lower()):
            lines.append(f"| [`felt.{name}`][{full}] | {_summary(name)} |")
    return "\n".join(lines) + "\n"


def _summary(name: str) -> str:
    """The first sentence of a name's docstring; constants have none of their own."""
    value = getattr(openfelt, name)
    text = "" if isinstance(value, int | str) else inspect.getdoc(value) or ""
    return text.partition("\n")[0].replace("|", "\\|")


def _package(title: str, names: dict[str, str]) -> str:
    parts = [f"# {title}\n"]
    parts += [_object(full, f"felt.{name}") for name, full in names.items()]
    results = _results(names)
    if results:
        parts.append("## Returned types\n\nThey are not public names; functions above return them.\n")
        parts += [_object(full, full.rpartition(".")[2], level=3) for full in results]
    return "\n".join(parts)


def _object(full: str, heading: str, *, level: int = 2) -> str:
    options = f"heading: {heading}\n      toc_label: {heading}\n      heading_level: {level}"
    return f"::: {full}\n    options:\n      {options}\n"


def _results(names: dict[str, str]) -> list[str]:
    """Classes of OpenFelt that the functions among the names return and that have no entry of their own."""
    public = set(public_names().values())
    found = {}
    for name in names:
        function = getattr(openfelt, name)
        if not inspect.isfunction(function):
            continue
        module = inspect.getmodule(function)
        for word in RESULT.findall(str(inspect.signature(function).return_annotation)):
            kind = getattr(module, word, None)
            if isinstance(kind, type) and kind.__module__.startswith("openfelt."):
                found[f"{kind.__module__}.{kind.__qualname__}"] = None
    return [full for full in found if full not in public]


def _commands() -> str:
    rows = [f"| [`felt {name}`]({name}.md) | {text} |" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "# Commands",
            "",
            "Every command takes `--json` and `--help`. [The guide](../../commands.md) has more.",
            "",
            "| command | |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def _command(name: str) -> str:
    module, parser = command_parser([name])
    parts = [f"# felt {name}", module.HELP.replace("\n", " "), "```text", _usage(parser), "```"]
    parts += ["## Examples", "```sh", "\n".join(module.EXAMPLES), "```", "## Arguments", _table(parser)]
    if name == "train":
        common = {action.dest for action in parser._actions}
        for solver in SOLVERS:
            own = command_parser([name, "kuhn", "--solver", solver])[1]
            table = _table(own, without=common)
            if table:
                parts += [f"## Parameters of {solver}", table]
    return (
        "\n\n".join(parts)
        .replace("```text\n\n", "```text\n")
        .replace("```sh\n\n", "```sh\n")
        .replace("\n\n```\n", "\n```\n")
    )


def _usage(parser: argparse.ArgumentParser) -> str:
    return parser.format_usage().removeprefix("usage: ").rstrip()


def _table(parser: argparse.ArgumentParser, without: set[str] = frozenset()) -> str:  # type: ignore[assignment]
    """The arguments of a parser as a table, or "" if it has none but those to leave out."""
    rows = []
    for action in parser._actions:
        if action.dest in without or action.help == argparse.SUPPRESS:
            continue
        names = ", ".join(f"`{option}`" for option in action.option_strings)
        metavar = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
        if isinstance(metavar, tuple):
            metavar = " ".join(metavar)
        if action.choices is not None:
            metavar = ", ".join(map(str, action.choices))
        text = (action.help or "") % {"default": action.default, "prog": parser.prog}
        cells = (
            names or f"`{action.metavar or action.dest}`",
            metavar if names or action.choices else "",
            text,
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(["| argument | value | meaning |", "|---|---|---|", *rows]) if rows else ""
