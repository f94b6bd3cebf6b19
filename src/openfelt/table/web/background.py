"""Work that may take a while, away from the loop that answers: a thread for each who does it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

Owner = TypeVar("Owner")
Found = TypeVar("Found")


class Desk(Generic[Owner]):
    """An object that one thread made, and that only this thread asks: it needs no locks.

    The thread does not keep the program from ending, as everything that counts is in the file by then.
    """

    def __init__(self, name: str, make: Callable[[], Owner]) -> None:
        self._asked: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        Thread(target=self._work, name=name, daemon=True).start()
        self._owner = self._submit(make).result()

    async def __call__(self, ask: Callable[[Owner], Found]) -> Found:
        """Ask in the thread, one after the other."""
        return await asyncio.wrap_future(self._submit(lambda: ask(self._owner)))

    def _submit(self, work: Callable[[], Found]) -> Future[Found]:
        answer: Future[Found] = Future()
        self._asked.put((answer, work))
        return answer

    def _work(self) -> None:
        while True:
            answer, work = self._asked.get()
            if answer.set_running_or_notify_cancel():
                try:
                    answer.set_result(work())
                except BaseException as error:
                    answer.set_exception(error)
