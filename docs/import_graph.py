"""Write the import graph of the packages to architecture.md and imports.svg; a test compares both."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "src" / "openfelt"
PAGE = Path(__file__).with_name("architecture.md")
PICTURE = Path(__file__).with_name("imports.svg")
BOX, STEP, MARGIN = (84, 28), (112, 44), 8  # in pixels: width and height of a package; from one to the next
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


def direct_imports() -> list[tuple[str, str]]:
    """The imports that do not follow from others, as pairs of packages."""
    imports = package_imports()
    order = by_level(imports)
    reach = {name: set(imports[name]) for name in order}
    for name in order:
        for other in imports[name]:
            reach[name] |= reach[other]
    return [
        (name, other)
        for name in reversed(order)
        for other in order
        if other in imports[name] and not any(other in reach[each] for each in imports[name])
    ]


def picture() -> str:
    """The direct imports as SVG: packages in columns, each to the right of all that import it."""
    arrows = direct_imports()
    column: dict[str, int] = {}
    for name in reversed(by_level(package_imports())):
        column[name] = max((column[user] + 1 for user, used in arrows if used == name), default=0)
    place = {}
    for name, left in column.items():
        row = sum(other in place and column[other] == left for other in column)
        place[name] = (left * STEP[0] + MARGIN, row * STEP[1] + MARGIN)
    width = max(x for x, _ in place.values()) + BOX[0] + MARGIN
    height = max(y for _, y in place.values()) + BOX[1] + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"'
        ' font-size="13">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7"'
        ' orient="auto"><path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>',
    ]
    for user, used in arrows:
        (x, y), (to_x, to_y) = place[user], place[used]
        x, y, to_y = x + BOX[0], y + BOX[1] // 2, to_y + BOX[1] // 2
        parts.append(
            f'<path d="M{x} {y} C{x + 20} {y} {to_x - 20} {to_y} {to_x} {to_y}" fill="none" stroke="#555"'
            ' marker-end="url(#tip)"/>'
        )
    for name, (x, y) in place.items():
        parts.append(
            f'<rect x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="4" fill="#e0f2f1"'
            ' stroke="#00796b"/>'
            f'<text x="{x + BOX[0] // 2}" y="{y + BOX[1] // 2 + 5}" text-anchor="middle">{name}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def markdown() -> str:
    """The picture, and all imports as a table."""
    imports = package_imports()
    order = by_level(imports)
    rows = [
        f"| `{name}` | {', '.join(f'`{other}`' for other in order if other in imports[name]) or 'nothing'} |"
        for name in reversed(order)
    ]
    shown = f"![Packages, each with an arrow to those that it imports]({PICTURE.name})"
    return "\n".join([shown, "", "| package | imports |", "|---|---|", *rows])


def main() -> None:
    """Write both."""
    PICTURE.write_text(picture(), encoding="utf-8")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{markdown()}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
