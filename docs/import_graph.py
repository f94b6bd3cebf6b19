"""Write the import graph of the packages into architecture.md; a test keeps it up to date."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "src" / "openfelt"
PAGE = Path(__file__).with_name("architecture.md")
BEGIN, END = "<!-- import graph: begin -->", "<!-- import graph: end -->"


def package_imports() -> dict[str, set[str]]:
    """By package, the packages that its modules import, inside functions too."""
    found: dict[str, set[str]] = {path.parent.name: set() for path in SOURCES.glob("*/__init__.py")}
    for path in SOURCES.glob("*/**/*.py"):
        package = path.relative_to(SOURCES).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("openfelt."):
                found[package].add(str(node.module).split(".")[1])
        found[package].discard(package)
    return found


def by_level(imports: dict[str, set[str]]) -> list[str]:
    """Packages, each after all that it imports."""
    order: list[str] = []
    while len(order) < len(imports):
        ready = sorted(name for name in imports if name not in order and imports[name] <= set(order))
        if not ready:
            raise ValueError(f"The packages import each other in a circle: {set(imports) - set(order)}.")
        order += ready
    return order


def markdown() -> str:
    """The diagram: an arrow for each import that does not follow from others; then all imports as a table."""
    imports = package_imports()
    order = by_level(imports)
    reach = {name: set(imports[name]) for name in order}
    for name in order:
        for other in imports[name]:
            reach[name] |= reach[other]
    arrows = [
        f"    {name} --> {other}"
        for name in reversed(order)
        for other in order
        if other in imports[name] and not any(other in reach[each] for each in imports[name])
    ]
    rows = [
        f"| `{name}` | {', '.join(f'`{other}`' for other in order if other in imports[name]) or 'nothing'} |"
        for name in reversed(order)
    ]
    diagram = ["```mermaid", "graph TD", *arrows, "```"]
    return "\n".join([*diagram, "", "| package | imports |", "|---|---|", *rows])


def main() -> None:
    """Write it into the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{markdown()}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
