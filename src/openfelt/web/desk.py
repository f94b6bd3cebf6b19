"""Work that may take a while, away from the loop that answers: a thread for each who does it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

Owner = TypeVar("Owner")
Found = TypeVar("Found")


class Desk(Generic[Owner]):
    """An object that one thread made, and that only this thread asks: it needs no locks."""

    def __init__(self, name: str, make: Callable[[], Owner]) -> None:
        self._thread = ThreadPoolExecutor(1, name)
        try:
            self._owner = self._thread.submit(make).result()
        except BaseException:
            self.close()
            raise

    async def __call__(self, ask: Callable[[Owner], Found]) -> Found:
        """Ask in the thread, one after the other."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, ask, self._owner)

    def close(self) -> None:
        """Drop what nobody has begun to do."""
        self._thread.shutdown(wait=False, cancel_futures=True)
