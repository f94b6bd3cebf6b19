"""Work that may take a while, in threads outside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

Service = TypeVar("Service")
Result = TypeVar("Result")


class BackgroundWorker(Generic[Service]):
    """An object that is created and called in one thread only, so that it needs no locks.

    The thread is a daemon: everything that matters is in the session file when the program ends.
    """

    def __init__(self, name: str, create: Callable[[], Service]) -> None:
        self._queue: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        Thread(target=self._work, name=name, daemon=True).start()
        self._service = self._submit(create).result()

    async def __call__(self, call: Callable[[Service], Result]) -> Result:
        """Run a call in the thread; calls run one after the other."""
        return await asyncio.wrap_future(self._submit(lambda: call(self._service)))

    def _submit(self, work: Callable[[], Result]) -> Future[Result]:
        result: Future[Result] = Future()
        self._queue.put((result, work))
        return result

    def _work(self) -> None:
        while True:
            result, work = self._queue.get()
            if result.set_running_or_notify_cancel():
                try:
                    result.set_result(work())
                except BaseException as error:
                    result.set_exception(error)
