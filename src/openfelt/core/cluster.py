"""Units of work on a Ray cluster: the only module that knows Ray.

Ray schedules the units, repeats those whose worker or node was lost, and brings the setup to each node once,
through its object store. A worker maps the arrays of the setup from there, without a copy, after it has
verified their checksum and that its OpenFelt is the same as that of the command.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import pickle
import socket
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError
from openfelt.core.sources import package_checksum
from openfelt.core.user_folders import cache_folder
from openfelt.core.version import VERSION

if TYPE_CHECKING:
    from openfelt.core.workers import Job

Bytes = NDArray[np.uint8]
LOCAL, SCHEME = "ray", "ray://"
IN_FLIGHT = 2_048  # units that Ray has at a time
RETRIES = 20  # of a unit whose worker or node was lost
OPEN_JOBS = 4  # that a worker keeps
MOST_ADDRESS = 300  # letters in an address file
CONNECT_SECONDS = 10.0
# The first bytes of a client of HTTP/2, on which gRPC is built, and the type of the frame that answers them.
HTTP2_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
HTTP2_SETTINGS = b"\4"


def on_ray(
    job: Job[Any], units: Sequence[Any], address: str, shared: Sequence[Any] = ()
) -> Iterator[tuple[int, Any]]:
    """Do units on a cluster; yields places and results in the order in which they are done."""
    if not units:
        return
    ray = connect(address)
    if job.gpu and not ray.cluster_resources().get("GPU"):
        raise FeltError(f"The Ray cluster at {address} has no GPU; use --device cpu.")
    carried = _carry(ray, job)
    parts = [ray.put(part) for part in shared]
    resources = {"num_gpus": 1, "num_cpus": 0} if job.gpu else {"num_cpus": 1}
    task = ray.remote(max_retries=RETRIES, **resources)(_do)
    waiting: dict[Any, int] = {}
    coming = enumerate(units)
    try:
        while True:
            for place, unit in islice(coming, IN_FLIGHT - len(waiting)):
                waiting[task.remote(carried, unit, parts)] = place
            if not waiting:
                return
            for done in ray.wait(list(waiting), num_returns=1)[0]:
                yield waiting.pop(done), _result(ray, done)
    finally:
        _abandon(ray, waiting)


def _abandon(ray: Any, waiting: Collection[Any]) -> None:
    """End units whose results are no longer needed.

    Leaving the cluster ends them. Where the program that calls us stays connected they are cancelled, those
    that run last: a unit that ends while it is cancelled can make Ray abort this process (ray#54785).
    """
    if not waiting:
        return
    if _CONNECTED:
        disconnect()
        return
    for unit in reversed(list(waiting)):
        ray.cancel(unit, force=True)


def count_cpus(address: str) -> int:
    """The CPUs of a cluster."""
    return int(connect(address).cluster_resources().get("CPU", 1))


class Carried(NamedTuple):
    """A job in the object store.

    Workers fetch it themselves. If it were an argument of a task, Ray would never release it on a node where
    it ended a worker together with its command, and would start no task there once such arguments fill most
    of the object store.
    """

    checksum: str
    package: Any  # the reference


_CARRIED: WeakKeyDictionary[Job[Any], Carried] = WeakKeyDictionary()


def _carry(ray: Any, job: Job[Any]) -> Carried:
    """A job in the object store."""
    if job not in _CARRIED:
        package = pack(job)
        _CARRIED[job] = Carried(package.checksum, ray.put(package))
    return _CARRIED[job]


def _result(ray: Any, done: Any) -> Any:
    """The result of a unit, or what it raised."""
    try:
        return ray.get(done)
    except ray.exceptions.RayTaskError as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, FeltError):
            raise cause from None
        if "No module named 'openfelt" in str(error):
            raise FeltError(
                f"A node of the cluster has no OpenFelt {VERSION}; install it on every node."
            ) from None
        raise
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[0]
        raise FeltError(
            f"A unit of work was lost {RETRIES + 1} times on the cluster ({reason}). Run the command again; "
            "with a folder it resumes."
        ) from None


# ----------------------------------------------------------------------------------------------- connection

_CONNECTED: list[str] = []


def connect(address: str) -> Any:
    """The module ray, connected to a cluster: a new one on this machine, or that of an address."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise FeltError("A cluster needs Ray, which is not installed: pip install 'openfelt[ray]'.") from None
    found = find_address(address)
    if ray.is_initialized():
        if not _CONNECTED or [found] == _CONNECTED:  # by the program that calls us, or by an earlier call
            return ray
        disconnect()
    if found != LOCAL:
        _require_listening(found)
    where = {"address": "local", "include_dashboard": False} if found == LOCAL else {"address": found}
    try:
        try:
            _init(ray, where)
        except ConnectionAbortedError:
            # The head forks a process for each client, which gRPC sometimes aborts (grpc#43055).
            _init(ray, where)
    except Exception as error:  # Ray raises many kinds, among them RuntimeError for other versions
        raise FeltError(_reason(found, error)) from None
    _CONNECTED[:] = [found]
    return ray


def _init(ray: Any, where: dict[str, Any]) -> None:
    ray.init(**where, log_to_driver=False, logging_level="ERROR", configure_logging=False)


def disconnect() -> None:
    """Leave the cluster; one on this machine ends."""
    if _CONNECTED:
        import ray

        _CARRIED.clear()
        ray.shutdown()
        _CONNECTED.clear()


def find_address(text: str) -> str:
    """`ray`, or the HOST:PORT or ray://HOST:PORT that is given, or that a file contains."""
    if os.path.isfile(text):
        try:
            text = Path(text).read_text("utf-8")[:MOST_ADDRESS].strip()
        except (OSError, UnicodeDecodeError):
            raise FeltError(f"{text} could not be read as the address of a Ray cluster.") from None
    if text != LOCAL:
        host_and_port(text)
    return text


def host_and_port(address: str) -> tuple[str, int]:
    """Of an address."""
    host, _, port = address.removeprefix(SCHEME).rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16 or set(host) & set(" /\n\t"):
        raise FeltError(
            f"A cluster is 'ray' (this machine), ray://HOST:PORT, HOST:PORT or a file with such an address, "
            f"not '{address[:80]}'."
        )
    return host.strip("[]"), int(port)


def _require_listening(address: str) -> None:
    """Raise FeltError unless a server of gRPC answers; Ray itself would try for minutes."""
    try:
        with socket.create_connection(host_and_port(address), CONNECT_SECONDS) as connection:
            connection.settimeout(CONNECT_SECONDS)
            connection.sendall(HTTP2_GREETING)
            if connection.recv(9)[3:4] != HTTP2_SETTINGS:
                raise OSError("what answers there is not Ray")
    except OSError as error:
        reason = error.strerror or str(error)
        raise FeltError(f"There is no Ray cluster at {address} ({reason}).") from None


def _reason(address: str, error: Exception) -> str:
    text = " ".join(str(error).split())[:300] or type(error).__name__
    if "ersion mismatch" in text or ("versions" in text and "mismatch" in text):
        return f"The Ray cluster at {address} has another version of Ray or Python than this machine: {text}"
    return f"The Ray cluster at {address} could not be used: {text}"


# ------------------------------------------------------------------------------- what a worker needs to begin


@cache
def own_version() -> tuple[str, str]:
    """OpenFelt's version, and the checksum of its sources."""
    return VERSION, package_checksum()


@dataclass(frozen=True)
class Package:
    """A job as it travels: pickled without its large arrays, and these as they are."""

    job: bytes
    arrays: tuple[Bytes, ...]
    files: dict[str, Bytes]  # by relative path
    checksum: str
    version: tuple[str, str] = field(default_factory=own_version)

    def seal(self) -> str:
        """The checksum of the contents."""
        digest = hashlib.sha256(self.job)
        for array in self.arrays:
            digest.update(array.data)
        for name, contents in sorted(self.files.items()):
            digest.update(f"{name}\0{len(contents)}\0".encode())
            digest.update(contents.data)
        return digest.hexdigest()


def pack(job: Job[Any]) -> Package:
    """A job, ready to travel."""
    from ray import cloudpickle

    buffers: list[pickle.PickleBuffer] = []
    text = cloudpickle.dumps((job.open, job.setup), protocol=5, buffer_callback=buffers.append)
    arrays = tuple(np.frombuffer(each.raw(), np.uint8) for each in buffers)
    files = {
        str(path): np.frombuffer(path.read_bytes(), np.uint8)
        for name in job.files
        for path in ([Path(name)] if Path(name).is_file() else sorted(Path(name).rglob("*")))
        if path.is_file()
    }
    package = Package(text, arrays, files, "")
    return Package(text, arrays, files, package.seal())


def unpack(package: Package) -> Callable[..., Any]:
    """The function of units; raises FeltError if the contents or the version of OpenFelt differ."""
    if package.version != own_version():
        raise FeltError(
            f"Node {socket.gethostname()} has OpenFelt {' with sources '.join(own_version())}, the command "
            f"{' with sources '.join(package.version)}; install the same version on every node."
        )
    if package.seal() != package.checksum:
        raise FeltError(f"The setup arrived damaged on node {socket.gethostname()}.")
    if package.files:
        _unpack_files(package)
    open_job, setup = pickle.loads(package.job, buffers=[_writable(each) for each in package.arrays])
    run: Callable[..., Any] = open_job(setup)
    return run


def _writable(array: Bytes) -> Any:
    """The memory of an array of the object store as a writable buffer.

    Kernels are compiled for writable arrays, as they are without a cluster; they do not write to these.
    """
    if not array.nbytes:
        return bytearray()
    buffer: Any = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
    buffer.owner = array  # which keeps the memory
    return buffer


def _unpack_files(package: Package) -> None:
    """Write the files to the node's cache, unless they are there, and make it the current folder."""
    folder = cache_folder() / "cluster" / package.checksum[:32]
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            own = Path(temporary) / "files"
            for name, contents in package.files.items():
                (own / name).parent.mkdir(parents=True, exist_ok=True)
                (own / name).write_bytes(contents.tobytes())
            try:
                own.rename(folder)
            except OSError:  # another worker of this node was first
                if not folder.is_dir():
                    raise
    os.chdir(folder)


_OPENED: dict[str, Callable[..., Any]] = {}  # by checksum, of a worker process


def _do(carried: Carried, unit: Any, parts: list[Any]) -> Any:
    """Do a unit in a worker process, which keeps the last jobs open."""
    import ray

    try:
        if carried.checksum not in _OPENED:
            while len(_OPENED) >= OPEN_JOBS:
                del _OPENED[next(iter(_OPENED))]
            _OPENED[carried.checksum] = unpack(ray.get(carried.package))
        return _OPENED[carried.checksum](unit, *ray.get(parts))
    except FeltError as error:
        raise _portable(error) from None


def _portable(error: FeltError) -> FeltError:
    """An error that can travel: those with arguments of their own cannot be read from a pickle."""
    try:
        same: FeltError = pickle.loads(pickle.dumps(error))
        return same
    except Exception:
        return FeltError(str(error))
