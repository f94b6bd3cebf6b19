"""The wheel in an empty environment: the README's commands and Python example run without the checkout.

    python tests/try_wheel.py dist/openfelt-0.2.0-py3-none-any.whl --python python3.12

First only the wheel is installed; what needs an extra must say so in one sentence. Then come the extras, but
for the very large ones. An extra that has no wheels for the Python is named and left out.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import zipfile
from email.parser import HeaderParser
from pathlib import Path
from typing import Any
from urllib.request import HTTPCookieProcessor, build_opener

README = Path(__file__).parent.parent / "README.md"
COMMAND = re.compile(r"`(felt [a-z][^`]*)`")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
INCOMPLETE = {"felt model fit"}  # needs hand histories
EXTRAS = {
    "felt play": "web",
    "felt study run": "plots",
    "felt plot": "plots",
    "felt train openspiel:": "open-spiel",
    "--solver deep-cfr": "torch",
    "--on ray": "ray",
}  # what commands with these words need beside the wheel
LARGE = {"torch", "ray"}  # hundreds of MB or more; the slow tests try them
NO_WHEEL = "No matching distribution found"  # says pip
LOWER_BOUND = re.compile(r"^([\w.-]+)(?:\[\w+\])?>=([\w.]+)", re.ASCII)
LONGEST = 1800  # seconds for a command
SHORTER = {
    "felt exploit default --flops 20": "felt exploit always-call --flops 2"
}  # minutes instead of hours


def readme_commands(text: str) -> list[str]:
    """The complete commands of the README."""
    found = dict.fromkeys(COMMAND.findall(text))
    return [SHORTER.get(command, command) for command in found if command not in INCOMPLETE]


def needed_extra(command: str) -> str:
    """The extra that a command needs, or ""."""
    return next((extra for words, extra in EXTRAS.items() if words in command), "")


def lowest_versions(wheel: Path) -> str:
    """Constraints to the lowest versions that a wheel allows of its dependencies."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        fields = HeaderParser().parsestr(archive.read(name).decode())
    bounds = map(LOWER_BOUND.match, fields.get_all("Requires-Dist", []))
    return "".join(f"{found[1]}=={found[2]}\n" for found in bounds if found)


class Environment:
    """A new virtual environment, with a folder to work in and folders for caches and data."""

    def __init__(self, folder: Path, python: str) -> None:
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        self._bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self._work = folder / "work"
        self._work.mkdir()
        own = {"OPENFELT_CACHE": str(folder / "cache"), "OPENFELT_DATA": str(folder / "data")}
        path = os.pathsep.join((str(self._bin), os.environ["PATH"]))
        self._variables = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
            **own,
            "PATH": path,
            "PYTHONUTF8": "1",
        }

    def install(self, what: str, constraints: Path | None) -> bool:
        """Install from wheels; False if there are none for this Python."""
        own = {} if constraints is None else {"PIP_CONSTRAINT": str(constraints)}
        words = ["-m", "pip", "install", "--quiet", "--only-binary=:all:", what]
        result = subprocess.run(
            [self._bin / "python", *words],
            env=self._variables | own,
            cwd=self._work,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if result.returncode and NO_WHEEL not in result.stdout:
            raise SystemExit(f"pip install {what} failed:\n{result.stdout}")
        return not result.returncode

    def run(self, program: str, *words: str, expected: int = 0) -> str:
        """Run a program of the environment and return what it prints."""
        begun = time.monotonic()
        result = subprocess.run(
            [self._bin / program, *words],
            cwd=self._work,
            env=self._variables,
            text=True,
            encoding="utf-8",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LONGEST,
        )
        if result.returncode != expected:
            raise SystemExit(
                f"{program} {shlex.join(words)} ended with {result.returncode}:\n{result.stdout}"
            )
        print(f"  {time.monotonic() - begun:5.0f} s  {program} {shlex.join(words)[:90]}", flush=True)
        return result.stdout

    def fetch_table(self, *words: str) -> None:
        """Start the table and load its page."""
        load_table([str(self._bin / "felt"), *words], cwd=self._work, env=self._variables)
        print(f"          felt {shlex.join(words)}: page loaded", flush=True)


def load_table(command: list[str], **how: Any) -> None:
    """Start the table, load its page and stop it."""
    command = [*command, "--no-browser", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **how)
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        if found is None:
            raise SystemExit(f"{shlex.join(command)} printed no address.")
        browser = build_opener(HTTPCookieProcessor())  # which keeps the token, if there is one
        with browser.open(found[0], timeout=60) as page:
            if b"<title>" not in page.read():
                raise SystemExit(f"{found[0]} is not the page of the table.")
    finally:
        server.terminate()
        server.wait(60)


def require_sentence(text: str, words: str) -> None:
    """Raise SystemExit unless the text is one sentence with these words."""
    if words not in text or len(text.strip().splitlines()) != 1:
        raise SystemExit(f"Expected one sentence with '{words}', not:\n{text}")


def try_wheel(environment: Environment, wheel: Path, constraints: Path | None) -> None:
    text = README.read_text(encoding="utf-8")
    commands = readme_commands(text)
    if not environment.install(str(wheel), constraints):
        raise SystemExit("A dependency has no wheel for this Python.")
    environment.run("felt", "--version")
    for command in commands:
        words = shlex.split(command)[1:]
        if extra := needed_extra(command):
            require_sentence(environment.run("felt", *words, expected=2), f"openfelt[{extra}]")
        else:
            environment.run("felt", *words)
    require_sentence(environment.run("felt", "bench", expected=2), "checkout")
    environment.run("python", "-c", "\n".join(BLOCK.findall(text)))
    for extra in sorted(set(EXTRAS.values()) - LARGE):
        own = [command for command in commands if needed_extra(command) == extra]
        if environment.install(f"{wheel}[{extra}]", constraints):
            try_commands(environment, own)
        else:
            print(f"          openfelt[{extra}] has no wheels for this Python; not tried: {', '.join(own)}")


def try_commands(environment: Environment, commands: list[str]) -> None:
    for command in commands:
        words = shlex.split(command)[1:]
        if command.startswith("felt play"):
            environment.fetch_table(*words)
        else:
            environment.run("felt", *words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the environment")
    parser.add_argument("--lowest", action="store_true", help="install the lowest allowed versions")
    parser.add_argument("--constraints", action="store_true", help="only print the lowest allowed versions")
    arguments = parser.parse_args()
    wheel = arguments.wheel.resolve()
    if arguments.constraints:
        print(lowest_versions(wheel), end="")
        return
    with tempfile.TemporaryDirectory(prefix="openfelt-wheel-") as name:
        folder, constraints = Path(name), None
        if arguments.lowest:
            constraints = folder / "lowest.txt"
            constraints.write_text(lowest_versions(wheel), encoding="utf-8")
        print(f"{wheel.name} with {arguments.python}", flush=True)
        try_wheel(Environment(folder, arguments.python), wheel, constraints)


if __name__ == "__main__":
    main()
