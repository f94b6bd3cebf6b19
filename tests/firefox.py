"""Firefox as it is installed, without a window, over WebDriver BiDi; every error in a page is kept.

Playwright drives only a Firefox of its own, or one newer than Debian's.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import tempfile
from contextlib import ExitStack
from typing import Any, Self

import pytest
from websockets.sync.client import connect

NAMES = ("firefox-esr", "firefox")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
if PROGRAM is None:
    pytest.skip(
        f"the table cannot be tested in Firefox without one of {', '.join(NAMES)}", allow_module_level=True
    )

PATIENCE = 60.0  # seconds, for what should come at once
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
# Nothing is shown at a human pace; an empty page has no storage.
QUICK = """() => { try {
  localStorage["felt.settings"] ??= JSON.stringify({ speed: "instant", folded: true });
} catch { /* none */ } }"""
WAIT = """new Promise((resolve) => {
  const end = Date.now() + %d;
  const look = () => {
    const found = (() => (%s))();
    if (found) resolve(found);
    else if (Date.now() > end) resolve(false);
    else setTimeout(look, 20);
  };
  look();
})"""
MIDDLE = """(() => {
  const node = document.querySelector(%s);
  node.scrollIntoView({ block: "center", behavior: "instant" });
  const { x, y, width, height } = node.getBoundingClientRect();
  return JSON.stringify([x + width / 2, y + height / 2]);
})()"""
KEYS = {"Enter": "\ue007", "ArrowRight": "\ue014"}


class Firefox:
    """A process of its own, with a new profile."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self._ids = itertools.count(1)
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        words = [PROGRAM, "--headless", "--no-remote", "--profile", self._profile.name]
        self._process = subprocess.Popen(
            [*words, "--remote-debugging-port", "0", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        found = next(filter(None, map(LISTENING.search, self._process.stderr)))
        self._stack = ExitStack()
        address = f"{found[1]}/session"
        self._socket = self._stack.enter_context(connect(address, max_size=None, open_timeout=PATIENCE))
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self.ask("script.addPreloadScript", functionDeclaration=QUICK)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.ask("browser.close")
        self._stack.close()
        self._process.wait(PATIENCE)
        self._profile.cleanup()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """A command, and its result."""
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message: dict[str, Any] = json.loads(self._socket.recv(2 * PATIENCE))
            if message["type"] == "event":
                self._note(message["params"])
            elif message["id"] == number:
                assert message["type"] == "success", message
                return dict(message["result"])

    def _note(self, entry: dict[str, Any]) -> None:
        if entry["level"] in ("error", "warn"):
            self.faults.append(f"{entry['level']}: {entry['text']}")

    def person(self, width: int = 1280, height: int = 800) -> Tab:
        """A page in a browser that knows nothing of the others."""
        who = self.ask("browser.createUserContext")["userContext"]
        tab = Tab(self, self.ask("browsingContext.create", type="tab", userContext=who)["context"])
        tab.ask("browsingContext.setViewport", viewport={"width": width, "height": height})
        return tab


class Tab:
    """A page, and what a person does with it."""

    def __init__(self, firefox: Firefox, context: str) -> None:
        self._firefox, self._context = firefox, context

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self._firefox.ask(method, context=self._context, **params)

    def goto(self, url: str) -> None:
        self.ask("browsingContext.navigate", url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, or of the promise that it is: a text, a number or a truth value."""
        found = self._firefox.ask(
            "script.evaluate", expression=expression, target={"context": self._context}, awaitPromise=True
        )
        assert found["type"] == "success", (expression, found["exceptionDetails"]["text"])
        return found["result"].get("value")

    def wait(self, expression: str) -> Any:
        """Wait until an expression is true; returns its value."""
        found = self.evaluate(WAIT % (1000 * PATIENCE, expression))
        assert found, f"it did not come: {expression}"
        return found

    def see(self, selector: str, text: str = "") -> None:
        """Wait until an element is shown, with a text in it."""
        node = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"{node}?.checkVisibility() && {node}.textContent.includes({json.dumps(text)})")

    def has(self, selector: str) -> bool:
        return bool(self.evaluate(f"document.querySelector({json.dumps(selector)}) !== null"))

    def press(self, selector: str, pointer: str = "mouse") -> None:
        """Click on an element, or tap it with `touch`."""
        self.see(selector)
        x, y = json.loads(self.evaluate(MIDDLE % json.dumps(selector)))
        steps = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        parameters = {"pointerType": pointer}
        source = {"type": "pointer", "id": pointer, "parameters": parameters, "actions": steps}
        self.ask("input.performActions", actions=[source])

    def type(self, *keys: str) -> None:
        """Type keys, one after the other."""
        steps = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("input.performActions", actions=[{"type": "key", "id": "keys", "actions": steps}])
