"""The time of the simulation, for visitors and faults, and for the server."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import os
import struct
from collections.abc import Callable, Coroutine
from pathlib import Path

TICK = 2.0  # seconds; all who wake up within one act at once
START = 1.75e9  # what the server's clock says at first, in seconds since 1970


class SimulatedClock:
    """Stands still while somebody acts, and goes to the next moment when all of its tasks sleep."""

    def __init__(self) -> None:
        self.now = 0.0  # seconds since the start
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._active = 0
        self._all_sleep = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Run a task that sleeps by this clock."""
        self._active += 1
        self._tasks.add(asyncio.create_task(work))

    async def sleep(self, seconds: float) -> None:
        """Wait, at least to the next tick."""
        due = TICK * math.ceil((self.now + max(seconds, TICK / 2)) / TICK)
        wakes: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (due, next(self._numbers), wakes))
        self._active -= 1
        if self._active == 0:
            self._all_sleep.set()
        await wakes

    async def run(self, seconds: float, on_tick: Callable[[], None]) -> None:
        """Let time pass; raises what a task raised."""
        while True:
            await self._until_all_sleep()
            if not self._sleepers or self._sleepers[0][0] > seconds:
                break
            self.now = self._sleepers[0][0]
            on_tick()
            self._all_sleep.clear()
            while self._sleepers and self._sleepers[0][0] == self.now:
                self._active += 1
                heapq.heappop(self._sleepers)[2].set_result(None)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _until_all_sleep(self) -> None:
        asleep = asyncio.create_task(self._all_sleep.wait())
        await asyncio.wait({asleep, *self._tasks}, return_when=asyncio.FIRST_COMPLETED)
        for task in self._tasks:
            if task.done():  # tasks go on until they are cancelled
                asleep.cancel()
                task.result()


class WallClock:
    """What the server takes for the time of day: a number in a file, which may jump."""

    def __init__(self, file: Path, clock: SimulatedClock) -> None:
        self._clock, self._offset = clock, START
        self._file = os.open(file, os.O_RDWR | os.O_CREAT)
        self.show()

    @property
    def now(self) -> float:
        return self._offset + self._clock.now

    def show(self) -> None:
        """Let the server see the time."""
        os.pwrite(self._file, struct.pack("d", self.now), 0)

    def jump(self, seconds: float) -> None:
        """Set the clock forward or back."""
        self._offset += seconds
        self.show()
