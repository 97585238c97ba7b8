"""Makes small pictures out of large photos, without ever holding the large ones in memory.

    import downsample

    small = downsample.thumbnail("in.heic", max_size=512)   # bytes of a JPEG
    downsample.thumbnail(photo_bytes, "out.avif")           # a file, which appears whole or not at all

Sources are paths, bytes-like objects (read where they are, not copied) or binary files (objects with `read`). The
interpreter's lock is released while a picture is made. 1 MB is 1,048,576 bytes. docs/python.md says more.
"""

from __future__ import annotations

import atexit
import ctypes
import dataclasses
import enum
import itertools
import json
import math
import operator
import os
import re
import signal
import threading
import time
import _thread
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional, Sequence, Union, overload

from . import _library
from ._library import library as _c

if TYPE_CHECKING:
    from typing import Literal, Protocol, TypedDict

    import numpy
    from typing_extensions import Unpack

    class Readable(Protocol):
        def read(self, size: int, /) -> Optional[bytes]: ...

    class Writable(Protocol):
        def write(self, data: bytes, /) -> Any: ...

    Path = Union[str, os.PathLike[str], os.PathLike[bytes]]
    Source = Union[Path, bytes, bytearray, memoryview, Readable]
    Destination = Union[Path, Writable]
    Memory = Union[int, str, None]
    Background = tuple[int, int, int]
    Format = Literal["jpeg", "png", "heic", "avif"]
    Chroma = Literal["420", "422", "444"]
    Color = Literal["keep", "srgb", "p3"]
    Intent = Literal["perceptual", "relative", "saturation", "absolute"]
    Kernel = Literal["box", "triangle", "catrom", "mitchell", "lanczos2", "lanczos3"]
    Metadata = Literal["none", "rights", "all"]
    OverBudget = Literal["refuse", "shrink"]
    MaxSize = Union[int, Literal["auto"]]
    Mode = Literal["RGB", "RGBA", "BGRA", "RGBa", "BGRa"]
    Progress = Callable[[int, int], Any]
    Cancelled = Callable[[], Any]

    class Options(TypedDict, total=False):
        """What a call takes beside the pictures; see thumbnail."""

        memory: Memory
        ledger: Optional["Ledger"]
        over_budget: OverBudget
        salvage: bool
        threads: Optional[int]
        deadline: Optional[float]
        progress: Optional[Progress]
        cancelled: Optional[Cancelled]

    class ArrayKeywords(Options, total=False):
        """Those of thumbnail_array."""

        max_size: MaxSize
        color: Color
        intent: Intent
        linear: bool
        kernel: Kernel
        background: Background
        ignore_orientation: bool

    class Keywords(ArrayKeywords, total=False):
        """Those of thumbnail."""

        format: Optional[Format]
        quality: int
        chroma: Chroma
        effort: int
        progressive: bool
        depth: int
        metadata: Metadata
        strip_gps: bool


__all__ = [
    "CancelledError",
    "CannotCreateError",
    "DamagedDataError",
    "DeadlineError",
    "Error",
    "Header",
    "InputOutputError",
    "InternalFault",
    "Ledger",
    "NoInputError",
    "Output",
    "OverBudgetError",
    "Plan",
    "Rendition",
    "Report",
    "Status",
    "UnsupportedError",
    "UsageError",
    "configure_process",
    "peak_resident_bytes",
    "plan",
    "probe",
    "thumbnail",
    "thumbnail_array",
    "thumbnails",
]

__version__: str = _c.dsm_version().decode()

_MB = 1 << 20
_DEFAULT_MEMORY = 120 * _MB
_ROOM = 64 * _MB


# ---- Errors ----


class Status(enum.IntEnum):
    """What became of a call: the exit status of the command line, too."""

    OK = 0
    USAGE = 64
    DAMAGED_DATA = 65
    NO_INPUT = 66
    UNSUPPORTED = 69
    INTERNAL_FAULT = 70
    CANNOT_CREATE = 73
    INPUT_OUTPUT = 74
    DEADLINE_PASSED = 75
    OVER_BUDGET = 80
    CANCELLED = 81


class Error(Exception):
    """What the library refuses or cannot do; each status has its own subclass."""

    def __init__(self, message: str, status: int = Status.INTERNAL_FAULT, report: Optional[dict[str, Any]] = None):
        super().__init__(message)
        self.message = message
        self.status = Status(status)
        #: The error as `downsample --json` prints it, where a picture was begun: needed bytes and the like.
        self.report = report

    @property
    def name(self) -> str:
        """The status's stable name, such as "overBudget"."""
        return str(_c.dsm_status_name(self.status).decode())

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Any:
        return type(self), (self.message, int(self.status), self.report)


class UsageError(Error, ValueError):
    """The call itself is wrong: a value out of range or unknown."""


class DamagedDataError(Error):
    """The data is damaged, cut short, or not an image."""


class NoInputError(Error, OSError):
    """There is no such input, or it cannot be opened."""


class UnsupportedError(Error):
    """A kind of picture or a feature that this build cannot decode."""


class InternalFault(Error):
    """A fault of the library's."""


class CannotCreateError(Error, OSError):
    """The output cannot be made where it was asked for."""


class InputOutputError(Error, OSError):
    """Reading the input or writing the output failed on the way."""


class DeadlineError(Error, TimeoutError):
    """The deadline passed before the work was done."""


class OverBudgetError(Error):
    """More memory is needed than may be taken, or than there is. Nothing was decoded."""


class CancelledError(Error):
    """`cancelled` said so."""


_ERRORS: dict[int, type[Error]] = {
    Status.USAGE: UsageError,
    Status.DAMAGED_DATA: DamagedDataError,
    Status.NO_INPUT: NoInputError,
    Status.UNSUPPORTED: UnsupportedError,
    Status.INTERNAL_FAULT: InternalFault,
    Status.CANNOT_CREATE: CannotCreateError,
    Status.INPUT_OUTPUT: InputOutputError,
    Status.DEADLINE_PASSED: DeadlineError,
    Status.OVER_BUDGET: OverBudgetError,
    Status.CANCELLED: CancelledError,
}


def _usage(message: str) -> UsageError:
    return UsageError(message, Status.USAGE)


# ---- Values ----

# Numbered from 1; 0 is by the path's extension.
_FORMATS = ("jpeg", "png", "heic", "avif")
_CHROMAS = ("420", "422", "444")
_COLORS = ("keep", "srgb", "p3")
_INTENTS = ("perceptual", "relative", "saturation", "absolute")
_KERNELS = ("box", "triangle", "catrom", "mitchell", "lanczos2", "lanczos3")
_METADATA = ("none", "rights", "all")
_OVER_BUDGET = ("refuse", "shrink")
# By mode and bits: the number of the C library's pixel format, and the samples of a pixel.
_PIXELS = {
    ("RGB", 8): (1, 3),
    ("RGBA", 8): (2, 4),
    ("BGRA", 8): (3, 4),
    ("RGBa", 8): (4, 4),
    ("BGRa", 8): (5, 4),
    ("RGB", 16): (6, 3),
    ("RGBA", 16): (7, 4),
}


def _choice(name: str, value: Any, choices: Sequence[Any]) -> int:
    if value not in choices:
        raise _usage(f"{name} is {value!r}; it takes {', '.join(map(str, choices))}")
    return choices.index(value)


def _integer(name: str, value: Any, lowest: int, highest: int) -> int:
    number = operator.index(value)
    if not lowest <= number <= highest:
        raise _usage(f"{name} is {number}; it takes {lowest} to {highest}")
    return number


@dataclass(frozen=True)
class Rendition:
    """One of the pictures that are made: how large it is and what it is written as."""

    #: The longest side in pixels, 1 to 65,500; a smaller picture keeps its size and is encoded again. "auto": 512 with
    #: less than 30 MB available, 1024 with less than 80, else 2048.
    max_size: MaxSize = 2048
    #: "jpeg", "png", "heic" or "avif". None: what the destination's extension says, JPEG where it has none.
    format: Optional[Format] = None
    #: Of a JPEG, HEIC or AVIF, 1 to 100 on libjpeg's scale.
    quality: int = 85
    #: "420", "422" or "444".
    chroma: Chroma = "420"
    #: 1 to 9: how hard to try to make the file small.
    effort: int = 2
    #: A JPEG of several scans.
    progressive: bool = False
    #: Bits of a sample: 8, 16 (PNG), or 0 for as deep as the input where the format holds it.
    depth: int = 0
    #: "keep": the input's colour space, whose profile goes into the output. "srgb" or "p3": converted.
    color: Color = "keep"
    #: "perceptual", "relative" (with black point compensation), "saturation" or "absolute".
    intent: Intent = "relative"
    #: Samples are averaged as light, not as they are coded.
    linear: bool = False
    #: From soft to sharp: "box", "triangle", "mitchell", "catrom", "lanczos2", "lanczos3".
    kernel: Kernel = "lanczos3"
    #: What lies under alpha where the output has none: red, green and blue of sRGB, 0 to 255.
    background: Background = (255, 255, 255)
    #: What is kept of EXIF, XMP and IPTC: "none", "rights" (copyright and creator) or "all" (that still holds).
    metadata: Metadata = "none"
    #: Positions are taken out of the metadata that are kept.
    strip_gps: bool = False
    #: The picture is left as it is stored, not turned upright.
    ignore_orientation: bool = False

    def _fields(self) -> _library.Rendition:
        if len(self.background) != 3:
            raise _usage(f"background has {len(self.background)} values; it takes red, green and blue")
        colors = [_integer("a value of background", value, 0, 255) for value in self.background]
        return _library.Rendition(
            max_pixel_size=0 if self.max_size == "auto" else _integer("max_size", self.max_size, 1, 65_500),
            format=0 if self.format is None else 1 + _choice("format", self.format, _FORMATS),
            quality=_integer("quality", self.quality, 1, 100),
            chroma=_choice("chroma", self.chroma, _CHROMAS),
            effort=_integer("effort", self.effort, 1, 9),
            progressive=bool(self.progressive),
            depth=(0, 8, 16)[_choice("depth", self.depth, (0, 8, 16))],
            color=_choice("color", self.color, _COLORS),
            intent=_choice("intent", self.intent, _INTENTS),
            linear=bool(self.linear),
            kernel=_choice("kernel", self.kernel, _KERNELS),
            background=(ctypes.c_uint8 * 4)(*colors, 0),
            metadata=_choice("metadata", self.metadata, _METADATA),
            strip_gps=bool(self.strip_gps),
            ignore_orientation=bool(self.ignore_orientation),
        )


@dataclass(frozen=True)
class Header:
    """What an input's header says."""

    #: "JPEG", "PNG", "HEIC", "AVIF", ...
    kind: str
    #: As displayed, in pixels.
    width: int
    height: int
    #: As stored.
    coded_width: int
    coded_height: int
    #: EXIF's number, 1 to 8.
    orientation: int
    #: Bits of a sample.
    depth: int
    has_alpha: bool
    #: Of the file; None where that is not known.
    byte_count: Optional[int]


@dataclass(frozen=True)
class Plan:
    """How the work would be done."""

    fits: bool
    threads: int
    #: The most resident memory that the process will reach.
    predicted_peak_bytes: int
    #: What the work adds to what is resident, at most: what it reserves in a ledger.
    added_bytes: int
    #: The most that the process may reach.
    limit_bytes: int
    #: Where it does not fit: the longest side that would.
    largest_fitting_size: Optional[int]
    warnings: tuple[str, ...]
    #: The plan as `downsample plan --json` prints it.
    details: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Output:
    """A picture that was made."""

    width: int
    height: int
    byte_count: int
    #: The picture, where its destination was None.
    data: Optional[bytes] = field(default=None, repr=False)


@dataclass(frozen=True)
class Report:
    """What was made, and what was found odd."""

    outputs: tuple[Output, ...]
    warnings: tuple[str, ...]
    #: The report as `downsample --json` prints it.
    details: dict[str, Any] = field(repr=False)


class Ledger:
    """The one account in which calls that go on at once reserve their predicted bytes before they decode.

    capacity: bytes that can be reserved in all ("100MB" and the like too): what the process may hold, less what it
    holds without any call.
    """

    def __init__(self, capacity: Union[int, str]) -> None:
        self._handle: Optional[int] = None
        self._handle = _c.dsm_ledger_create(_bytes("capacity", capacity))

    @property
    def reserved_bytes(self) -> int:
        """Bytes that are reserved now."""
        return int(_c.dsm_ledger_reserved_bytes(self._handle))

    def __reduce__(self) -> Any:
        raise TypeError("a Ledger belongs to its process: it cannot be copied or pickled")

    def __del__(self) -> None:
        if self._handle is not None:
            _c.dsm_ledger_destroy(self._handle)


def configure_process() -> bool:
    """Sets the C library's allocator up for the whole process so that freed memory goes back to the system.

    Predictions of the peak rely on it. Call it early, and only if you want this for your process. False where the C
    library has no such settings.
    """
    return bool(_c.dsm_configure_process())


def peak_resident_bytes() -> int:
    """The most that was resident in the process at once since it began; 0 where there is no /proc."""
    return int(_c.dsm_peak_resident_bytes())


_UNITS = {"": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}


def _bytes(name: str, value: Union[int, str]) -> int:
    if isinstance(value, str):
        match = re.fullmatch(r"([0-9]{1,18})\s*([KMG]I?B)?", value.strip(), re.ASCII | re.IGNORECASE)
        if not match:
            raise _usage(f"{name} is {value!r}; it takes bytes, or a number with KB, MB or GB")
        value = int(match[1]) * _UNITS[(match[2] or "").upper()]
    return _integer(name, value, 1, 2**63 - 1)


def _resident() -> int:
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:
            return int(file.read(128).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _ceiling(memory: Memory) -> int:
    if memory is None:
        return max(_DEFAULT_MEMORY, _resident() + _ROOM)
    return _library.MEMORY_AUTOMATIC if memory == "auto" else _bytes("memory", memory)


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _path(value: Any) -> bytes:
    path = os.fsencode(value)
    if b"\0" in path:
        raise _usage("a path holds a zero byte")
    return path


# ---- Callbacks ----
#
# The C library is given functions that last as long as the module, and a number by which they find their call:
# functions made for each call would be freed late, by the collector of cycles. An exception must not leave them: it is
# kept, the job is ended, and it is raised when the job has returned.

_calls: dict[int, "_Call"] = {}
_numbers = itertools.count(1)
# Of the two below, and of the life of the jobs in _calls.
_lock = threading.Lock()
_is_ending = False
# So long the end of the interpreter is held up by calls of threads that it does not wait for, in seconds.
_PATIENCE = 2.0


def _end_calls() -> None:
    """Ends what daemon threads still do: the interpreter would end them in the middle of a callback, under frames of the C
    library that hold locks."""
    global _is_ending
    with _lock:
        _is_ending = True
        for call in _calls.values():
            _c.dsm_job_cancel(call.job)
    end = time.monotonic() + _PATIENCE
    while _calls and time.monotonic() < end:
        time.sleep(0.002)


def _forget_calls() -> None:
    """In a new process only the thread that forked it is left."""
    global _lock
    _calls.clear()
    _lock = threading.Lock()


atexit.register(_end_calls)
os.register_at_fork(after_in_child=_forget_calls)


def _guarded(failure: Optional[int], body: Callable[..., Optional[int]]) -> Callable[..., Optional[int]]:
    def function(user: int, *arguments: Any) -> Optional[int]:
        call = _calls[user & 0xFFFFFFFFFFFF]
        try:
            if call.exception is None:
                return body(call, user >> 48, *arguments)
        except BaseException as exception:
            if call.exception is None:
                call.exception = exception
        if failure is None:
            _c.dsm_job_cancel(call.job)
        return failure

    return function


def _fill(buffer: int, size: int, data: Any) -> int:
    if data is None:
        raise BlockingIOError("the source has nothing to read now; it has to block")
    with memoryview(data) as view:
        if view.nbytes > size:
            raise ValueError(f"the source's read gave {view.nbytes} bytes where {size} were asked for")
        ctypes.memmove(buffer, data if isinstance(data, bytes) else view.tobytes(), view.nbytes)
        return view.nbytes


def _read(call: _Call, _: int, buffer: int, size: int) -> int:
    return _fill(buffer, size, call.source.read(size))


def _read_at(call: _Call, _: int, buffer: int, size: int, offset: int) -> int:
    with call.lock:
        call.source.seek(call.base + offset)
        return _fill(buffer, size, call.source.read(size))


def _write(call: _Call, index: int, data: int, size: int) -> int:
    rest = ctypes.string_at(data, size)
    destination = call.destinations[index]
    while rest:
        count = destination.write(rest)
        # Raw files may take less than all, and say how much; what says nothing took it all.
        if not isinstance(count, int) or count >= len(rest):
            break
        if count <= 0:
            raise BlockingIOError("the destination takes nothing now; it has to block")
        rest = rest[count:]
    return 0


def _begin(call: _Call, _: int, pixels: Any, memory: Any) -> int:
    call.begin(pixels[0], memory[0])
    return 0


def _progress(call: _Call, _: int, rows: int, of_rows: int) -> None:
    call.progress(rows, of_rows)


def _cancelled(call: _Call, _: int) -> int:
    return 1 if call.cancelled() else 0


_on_read = _library.ReadFunction(_guarded(-1, _read))
_on_read_at = _library.ReadAtFunction(_guarded(-1, _read_at))
_on_write = _library.WriteFunction(_guarded(1, _write))
_on_begin = _library.BeginFunction(_guarded(1, _begin))
_on_progress = _library.ProgressFunction(_guarded(None, _progress))
_on_cancelled = _library.CancelledFunction(_guarded(1, _cancelled))


class _Call:
    """One job of the C library's, from its making to its end, and all that has to last as long."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.exception: Optional[BaseException] = None
        self.lock = threading.Lock()
        self.base = 0
        self.destinations: list[Any] = []
        self.begin: Any = None
        self.progress: Any = None
        self.cancelled: Any = None
        self.ledger: Optional[Ledger] = None
        self.buffer: Optional[_library.Buffer] = None
        self.number = next(_numbers)
        self.job: Optional[int] = None

    def __enter__(self) -> _Call:
        with _lock:
            if _is_ending:
                raise CancelledError("the interpreter is ending", Status.CANCELLED)
            self.job = _c.dsm_job_create()
            _calls[self.number] = self
        try:
            self._set_source()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        with _lock:
            # Gone already in a process that was forked meanwhile.
            _calls.pop(self.number, None)
        _c.dsm_job_destroy(self.job)
        if self.buffer is not None:
            _library.release_buffer(ctypes.byref(self.buffer))

    def _set_source(self) -> None:
        source = self.source
        if _is_path(source):
            self.check(_c.dsm_job_set_input_path(self.job, _path(source)))
        elif hasattr(source, "read"):
            reader = _library.Reader(read=_on_read, user=self.number)
            size = self._size()
            if size:
                reader.read_at = _on_read_at
                reader.byte_count = size
            self.check(_c.dsm_job_set_input_reader(self.job, ctypes.byref(reader)))
        else:
            buffer = _library.Buffer()
            try:
                _library.get_buffer(source, ctypes.byref(buffer), 0)
            except TypeError:
                kind = type(source).__name__
                raise TypeError(f"the source is a {kind}; it takes a path, bytes or a binary file") from None
            self.buffer = buffer
            self.check(_c.dsm_job_set_input_bytes(self.job, buffer.buf, buffer.len))

    def _size(self) -> int:
        """Bytes from the source's position on, where it can be read anywhere; else 0."""
        seekable = getattr(self.source, "seekable", None)
        if seekable is None or not seekable():
            return 0
        self.base = self.source.tell()
        size = self.source.seek(0, os.SEEK_END) - self.base
        self.source.seek(self.base)
        return max(0, int(size))

    def set_options(
        self,
        memory: Memory = None,
        ledger: Optional[Ledger] = None,
        over_budget: OverBudget = "refuse",
        salvage: bool = False,
        threads: Optional[int] = None,
        deadline: Optional[float] = None,
        progress: Optional[Progress] = None,
        cancelled: Optional[Cancelled] = None,
    ) -> None:
        options = _library.Options(
            memory=_ceiling(memory),
            over_budget=_choice("over_budget", over_budget, _OVER_BUDGET),
            salvage=bool(salvage),
            threads=0 if threads is None else _integer("threads", threads, 1, 64),
            user=self.number,
        )
        if ledger is not None:
            if not isinstance(ledger, Ledger):
                raise TypeError(f"ledger is a {type(ledger).__name__}; it takes a Ledger")
            self.ledger = ledger
            options.ledger = ledger._handle
        if deadline is not None:
            if not 0 < deadline < 1e9:
                raise _usage(f"deadline is {deadline}; it takes seconds, more than 0 and less than a billion")
            options.deadline_ms = math.ceil(deadline * 1000)
        if progress is not None:
            self.progress = progress
            options.progress = _on_progress
        if cancelled is not None:
            self.cancelled = cancelled
            options.cancelled = _on_cancelled
        self.check(_c.dsm_job_set_options(self.job, ctypes.byref(options)))

    def add(self, rendition: Rendition, destination: Any) -> None:
        if not isinstance(rendition, Rendition):
            raise TypeError(f"a rendition is a {type(rendition).__name__}; it takes a Rendition")
        fields = ctypes.byref(rendition._fields())
        index = len(self.destinations)
        self.destinations.append(destination)
        if destination is None:
            status = _c.dsm_job_add_bytes(self.job, fields)
        elif _is_path(destination):
            status = _c.dsm_job_add_path(self.job, fields, _path(destination), 0)
        elif hasattr(destination, "write"):
            status = _c.dsm_job_add_writer(self.job, fields, _on_write, self.number | index << 48)
        else:
            kind = type(destination).__name__
            raise TypeError(f"the destination is a {kind}; it takes None, a path or a binary file")
        self.check(status)

    def add_rows(self, rendition: Rendition, pixel_format: int, begin: Callable[[Any, Any], None]) -> None:
        self.begin = begin
        sink = _library.RowSink(begin=_on_begin, user=self.number, keeps_rows=1)
        fields = ctypes.byref(rendition._fields())
        self.check(_c.dsm_job_add_rows(self.job, fields, pixel_format, ctypes.byref(sink)))

    def check(self, status: int) -> None:
        if self.exception is not None:
            exception, self.exception = self.exception, None
            try:
                raise exception
            finally:
                del exception
        if status != 0:
            message = _c.dsm_job_message(self.job).decode(errors="replace")
            raise _ERRORS.get(status, InternalFault)(message, status, self.details() or None)

    def run(self) -> None:
        # A signal's handler runs in the main thread, between two steps of Python: there a call into C holds Ctrl-C up
        # until it returns. So the main thread waits, in Python, for one that calls.
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self.check(self._run_aside())
        else:
            self.check(_c.dsm_job_run(self.job))

    def _run_aside(self) -> int:
        statuses: list[int] = []
        begun: list[bool] = []
        abandoned: list[bool] = []
        done = _thread.allocate_lock()
        done.acquire()

        def body() -> None:
            begun.append(True)
            try:
                statuses.append(Status.CANCELLED if abandoned else _c.dsm_job_run(self.job))
            finally:
                done.release()

        try:
            try:
                _thread.start_new_thread(body, ())
            except RuntimeError:
                # No more threads, or the interpreter is about to end.
                return int(_c.dsm_job_run(self.job))
            # A signal that the system gave to another thread does not wake this one.
            while not done.acquire(timeout=0.02):
                pass
        except BaseException:
            # What the job uses has to outlast it, whatever else is raised meanwhile. A thread that has not begun sees
            # that it need not, as each says its word before it looks for the other's.
            abandoned.append(True)
            _c.dsm_job_cancel(self.job)
            while begun and not statuses:
                try:
                    done.acquire(timeout=0.05)
                except BaseException:
                    continue
            raise
        return statuses[0]

    def details(self) -> dict[str, Any]:
        text = _c.dsm_job_report(self.job)
        return dict(json.loads(text.decode(errors="replace"))) if text else {}

    def warnings(self) -> tuple[str, ...]:
        def texts() -> Iterator[str]:
            for index in itertools.count():
                text = _c.dsm_job_warning(self.job, index)
                if text is None:
                    return
                yield text.decode(errors="replace")

        return tuple(texts())

    def report(self) -> Report:
        outputs = []
        for index, destination in enumerate(self.destinations):
            made = _library.Output()
            self.check(_c.dsm_job_output(self.job, index, ctypes.byref(made)))
            data = ctypes.string_at(made.bytes, made.byte_count) if destination is None else None
            outputs.append(Output(made.width, made.height, made.byte_count, data))
        return Report(tuple(outputs), self.warnings(), self.details())


# ---- Calls ----


_LOOKS = frozenset(field.name for field in dataclasses.fields(Rendition))
_ARRAY_LOOKS = frozenset(("max_size", "color", "intent", "linear", "kernel", "background", "ignore_orientation"))


def _parted(keywords: Any, looks: frozenset[str]) -> tuple[Rendition, Any]:
    """What describes the picture, and the rest."""
    rendition = Rendition(**{name: keywords[name] for name in keywords if name in looks})
    return rendition, {name: keywords[name] for name in keywords if name not in looks}


@overload
def thumbnail(source: Source, destination: None = None, **keywords: Unpack[Keywords]) -> bytes: ...
@overload
def thumbnail(source: Source, destination: Destination, **keywords: Unpack[Keywords]) -> Report: ...
def thumbnail(source: Source, destination: Optional[Destination] = None, **keywords: Any) -> Any:
    """Makes a small picture: returns its bytes where destination is None, else writes it there and returns a Report.

    What describes the picture are the fields of Rendition, with its defaults: max_size, format, quality, chroma, effort,
    progressive, depth, color, intent, linear, kernel, background, metadata, strip_gps, ignore_orientation. The rest:

    memory: the most resident memory that the process may reach: bytes, "120MB", "64MiB", or "auto" for the container's
        or machine's limit. The whole process counts, with Python and all that it loaded. Default: 120 MB, or 64 MB more
        than is resident when the call begins, where that is more.
    ledger: where the plan's bytes are reserved, and waited for, when several calls go on at once. Default: none.
    over_budget: "refuse" (the default), or "shrink" to make the largest size that fits, with a warning.
    salvage: what there is of a damaged picture is made, with warnings. Default: False.
    threads: that may work at once, 1 to 64. Default: the processors, 4 at most.
    deadline: seconds that all may take. Default: any time.
    progress: called with the rows that were decoded and their number, at most a hundred times.
    cancelled: asked every 10 ms or so; a true result ends the work with CancelledError.

    Callbacks and the methods of files may be called on other threads, never two at once. What they raise is raised
    here.
    """
    rendition, options = _parted(keywords, _LOOKS)
    report = thumbnails(source, [rendition], [destination], **options)
    return report.outputs[0].data if destination is None else report


def thumbnails(
    source: Source,
    renditions: Sequence[Rendition],
    destinations: Optional[Sequence[Optional[Destination]]] = None,
    **options: Unpack[Options],
) -> Report:
    """Makes up to 16 pictures out of one decode, planned together; one destination for each, or None to keep all.

    A picture whose destination is None is in its Output's data. The options, from memory on, are those of thumbnail.
    """
    targets: list[Any] = [None] * len(renditions) if destinations is None else list(destinations)
    if len(targets) != len(renditions):
        raise _usage(f"there are {len(renditions)} renditions and {len(targets)} destinations")
    with _Call(source) as call:
        call.set_options(**options)
        for rendition, target in zip(renditions, targets):
            call.add(rendition, target)
        call.run()
        return call.report()


def thumbnail_array(
    source: Source, *, mode: Mode = "RGB", dtype: Any = "uint8", **keywords: Unpack[ArrayKeywords]
) -> numpy.ndarray:
    """Makes a small picture as an array of height, width and samples, written straight into its memory.

    mode: "RGB", "RGBA", "BGRA", or with premultiplied alpha "RGBa", "BGRa".
    dtype: uint8, or with RGB and RGBA uint16 (0 to 65,535).
    color: "srgb" by default, as an array carries no profile.

    The others are those of thumbnail: max_size, intent, linear, kernel, background, ignore_orientation, and all from memory
    on. The plan counts the array. Needs NumPy.
    """
    import numpy

    kind = numpy.dtype(dtype)
    key = (mode, kind.itemsize * 8)
    if key not in _PIXELS or kind.kind != "u" or not kind.isnative:
        raise _usage(f"mode is {mode!r} and dtype {kind}; RGB and RGBA take uint8 and uint16, BGRA, RGBa, BGRa uint8")
    pixel_format, samples = _PIXELS[key]
    arrays: list[Any] = []

    def begin(pixels: Any, pixel_memory: Any) -> None:
        array = numpy.empty((pixels.height, pixels.width, samples), kind)
        arrays.append(array)
        pixel_memory.bytes = array.ctypes.data
        pixel_memory.size = array.nbytes
        pixel_memory.stride = array.strides[0]

    rendition, options = _parted({"color": "srgb", **keywords}, _ARRAY_LOOKS)
    with _Call(source) as call:
        call.set_options(**options)
        call.add_rows(rendition, pixel_format, begin)
        call.run()
    return arrays[0]


def probe(source: Source) -> Header:
    """Reads the header. A file that cannot be read anywhere is used up by it."""
    with _Call(source) as call:
        call.set_options()
        header = _library.Header()
        call.check(_c.dsm_job_probe(call.job, ctypes.byref(header)))
        return Header(
            header.kind.decode(),
            header.width,
            header.height,
            header.coded_width,
            header.coded_height,
            header.orientation,
            header.depth,
            bool(header.has_alpha),
            header.byte_count or None,
        )


def plan(
    source: Source, renditions: Union[Rendition, Sequence[Rendition]] = Rendition(), **options: Unpack[Options]
) -> Plan:
    """Reads the header and says what making the pictures would take, also where it does not fit.

    The options, from memory on, are those of thumbnail.
    """
    with _Call(source) as call:
        call.set_options(**options)
        for rendition in [renditions] if isinstance(renditions, Rendition) else renditions:
            call.add(rendition, None)
        made = _library.Plan()
        call.check(_c.dsm_job_plan(call.job, ctypes.byref(made)))
        return Plan(
            bool(made.fits),
            made.threads,
            made.predicted_peak_bytes,
            made.added_bytes,
            made.limit_bytes,
            made.largest_fitting_size or None,
            call.warnings(),
            call.details(),
        )
