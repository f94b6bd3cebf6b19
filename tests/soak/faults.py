"""What goes wrong: kills, a full disk, deleted files, clock jumps, a machine that sleeps, a second server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from soak.clock import SimulatedClock, WallClock
from soak.disk import Disk
from soak.ledger import Ledger
from soak.server import FILES, Server, StartError

GAP = 900.0  # seconds between faults, in the mean
MINUTE, YEAR = 60.0, 365 * 24 * 3600.0
IN_FLIGHT = 0.02  # seconds, within which visitors wait for answers


class Faults:
    """One fault after the other, while somebody plays; each kind once in every round, in random order."""

    def __init__(
        self,
        server: Server,
        disk: Disk,
        clock: SimulatedClock,
        wall: WallClock,
        ledger: Ledger,
        seed: int,
        gap: float = GAP,
    ) -> None:
        self._server, self._disk, self._clock, self._wall, self._ledger = server, disk, clock, wall, ledger
        self._dice, self._gap = random.Random(seed), gap
        self._kinds: list[Callable[[], Awaitable[None]]] = [
            *(self._kill, self._kill_at_start, self._fill_disk, self._kill_on_full_disk, self._delete),
            *(self._jump, self._sleep, self._start_second),
        ]

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            for fault in self._dice.sample(self._kinds, len(self._kinds)):
                await self._clock.sleep(self._dice.expovariate(1 / self._gap))
                while self._ledger.playing == 0:  # a fault that nobody meets shows nothing
                    await self._clock.sleep(MINUTE)
                await fault()

    async def finish(self) -> None:
        """End whatever is wrong, and stop the server after a last start."""
        self._end()
        if self._server.deleted_at is not None:
            self._server.put_back()
        if self._disk.is_full:
            self._disk.free(self._server.pid)
        await self._start()
        await self._stop()

    async def _kill(self) -> None:
        await asyncio.sleep(self._dice.uniform(0, IN_FLIGHT))
        self._end()
        await self._start()
        self._ledger.faults["kills"] += 1

    async def _kill_at_start(self) -> None:
        self._end()
        self._server.launch_again()
        await asyncio.sleep(self._dice.uniform(0, 2))
        self._end()
        await self._start()
        self._ledger.faults["kills at start"] += 1

    async def _fill_disk(self) -> None:
        before = self._ledger.refusals["disk full"]
        self._disk.fill(self._server.pid, self._dice)
        await self._clock.sleep(self._dice.uniform(1, 10) * MINUTE)
        await self._until_met("disk full", before)
        self._disk.free(self._server.pid)
        self._ledger.faults["disk full"] += 1

    async def _kill_on_full_disk(self) -> None:
        self._disk.fill(self._server.pid, self._dice)
        await self._clock.sleep(self._dice.uniform(1, 5) * MINUTE)
        await self._kill()
        if self._disk.is_full:
            await self._clock.sleep(self._dice.uniform(1, 5) * MINUTE)
            self._disk.free(self._server.pid)
        self._ledger.faults["disk full"] += 1

    async def _delete(self) -> None:
        names = self._dice.sample(FILES, self._dice.randint(1, len(FILES)))
        before = self._ledger.refusals["file deleted"]
        await asyncio.sleep(self._dice.uniform(0, IN_FLIGHT))
        self._server.delete(names)
        await self._clock.sleep(self._dice.uniform(1, 3) * MINUTE)
        await self._until_met("file deleted", before)
        if self._dice.random() < 0.5:
            self._end()
        else:
            await self._stop()
        self._server.put_back()
        await self._start()
        self._ledger.faults["files deleted"] += len(names)
        self._ledger.faults["deletions"] += 1

    async def _until_met(self, refusal: str, before: int) -> None:
        """Wait until a visitor was refused because of a fault, for an hour at most.

        A disk may have room for a few more hands, and nobody may play for a while.
        """
        for _ in range(60):
            if self._ledger.refusals[refusal] > before:
                return
            await self._clock.sleep(MINUTE)

    async def _jump(self) -> None:
        size = self._dice.choice((MINUTE, 60 * MINUTE, YEAR / 365, YEAR, 10 * YEAR))
        self._wall.jump(self._dice.choice((-1, 1)) * size)
        self._ledger.faults["clock jumps"] += 1

    async def _sleep(self) -> None:
        """Let the machine sleep: the server stands still, and then its clock is hours ahead."""
        await self._server.suspend(self._dice.uniform(0.1, 1.0))
        self._wall.jump(self._dice.uniform(1, 10) * 60 * MINUTE)
        self._ledger.faults["suspensions"] += 1

    async def _start_second(self) -> None:
        code, text = await self._server.start_second()
        if code != 2 or "is in use by another felt play" not in text or "Traceback" in text:
            self._ledger.violation(f"a second server ended with code {code}: {text}")
        self._ledger.faults["second servers"] += 1

    async def _start(self) -> None:
        """Start the server; on a full disk it may refuse with a sentence."""
        try:
            return await self._server.start()
        except StartError as error:
            if not self._disk.is_full:
                raise
            if "Traceback" in str(error):
                self._ledger.violation(f"the server did not start: {error}")
        self._ledger.faults["starts refused on a full disk"] += 1
        self._disk.free(self._server.pid)
        await self._server.start()

    def _end(self) -> None:
        """Kill the server."""
        self._server.kill()
        self._check_output()

    async def _stop(self) -> None:
        await self._server.stop()
        self._check_output()

    def _check_output(self) -> None:
        """Note whatever the server printed besides its address."""
        if text := self._server.said():
            self._ledger.violation(f"the server printed: {text}")
