"""The C library's declarations, as downsample.h has them, and where the library is found."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char, c_char_p, c_size_t, c_ssize_t, c_void_p
from ctypes import c_int32, c_int64, c_uint8, c_uint32, c_uint64
from typing import Any

_SONAME = "libdownsample.so.0"

MEMORY_AUTOMATIC = 2**64 - 1
NO_CLOBBER = 1

ProgressFunction = ctypes.CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)
CancelledFunction = ctypes.CFUNCTYPE(c_int32, c_void_p)
ReadFunction = ctypes.CFUNCTYPE(c_ssize_t, c_void_p, c_void_p, c_size_t)
ReadAtFunction = ctypes.CFUNCTYPE(c_ssize_t, c_void_p, c_void_p, c_size_t, c_uint64)
WriteFunction = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t)


class Sized(ctypes.Structure):
    """A struct that begins with its size; the other fields are zero."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(struct_size=ctypes.sizeof(self), **fields)


class Rendition(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("max_pixel_size", c_int32),
        ("format", c_int32),
        ("quality", c_int32),
        ("chroma", c_int32),
        ("effort", c_int32),
        ("progressive", c_int32),
        ("depth", c_int32),
        ("color", c_int32),
        ("intent", c_int32),
        ("linear", c_int32),
        ("kernel", c_int32),
        ("background", c_uint8 * 4),
        ("metadata", c_int32),
        ("strip_gps", c_int32),
        ("ignore_orientation", c_int32),
        ("reserved", c_int32),
    ]


class Options(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("memory", c_uint64),
        ("ledger", c_void_p),
        ("over_budget", c_int32),
        ("salvage", c_int32),
        ("threads", c_int32),
        ("reserved", c_int32),
        ("deadline_ms", c_int64),
        ("progress", ProgressFunction),
        ("cancelled", CancelledFunction),
        ("user", c_void_p),
    ]


class Reader(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("read", ReadFunction),
        ("read_at", ReadAtFunction),
        ("byte_count", c_uint64),
        ("user", c_void_p),
    ]


class Pixels(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("width", c_int32),
        ("height", c_int32),
        ("format", c_int32),
        ("is_srgb", c_int32),
        ("row_size", c_size_t),
        ("icc_profile", c_void_p),
        ("icc_profile_size", c_size_t),
    ]


class PixelMemory(Sized):
    _fields_ = [("struct_size", c_size_t), ("bytes", c_void_p), ("size", c_size_t), ("stride", c_size_t)]


BeginFunction = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(Pixels), POINTER(PixelMemory))
RowFunction = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t, c_int32)


class RowSink(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("begin", BeginFunction),
        ("row", RowFunction),
        ("user", c_void_p),
        ("keeps_rows", c_int32),
        ("reserved", c_int32),
    ]


class Header(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_char * 16),
        ("width", c_int32),
        ("height", c_int32),
        ("coded_width", c_int32),
        ("coded_height", c_int32),
        ("orientation", c_int32),
        ("depth", c_int32),
        ("has_alpha", c_int32),
        ("reserved", c_int32),
        ("byte_count", c_uint64),
    ]


class Plan(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("fits", c_int32),
        ("threads", c_int32),
        ("predicted_peak_bytes", c_uint64),
        ("added_bytes", c_uint64),
        ("limit_bytes", c_uint64),
        ("largest_fitting_size", c_int32),
        ("reserved", c_int32),
    ]


class Output(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("width", c_int32),
        ("height", c_int32),
        ("byte_count", c_uint64),
        ("bytes", c_void_p),
    ]


class Buffer(ctypes.Structure):
    """Python's Py_buffer: the memory of an object that has the buffer protocol, also a read-only one."""

    _fields_ = [
        ("buf", c_void_p),
        ("obj", c_void_p),
        ("len", c_ssize_t),
        ("itemsize", c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", c_char_p),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("suboffsets", c_void_p),
        ("internal", c_void_p),
    ]


get_buffer = ctypes.pythonapi.PyObject_GetBuffer
get_buffer.argtypes = [ctypes.py_object, POINTER(Buffer), ctypes.c_int]
get_buffer.restype = ctypes.c_int
release_buffer = ctypes.pythonapi.PyBuffer_Release
release_buffer.argtypes = [POINTER(Buffer)]
release_buffer.restype = None

_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "dsm_ledger_create": (c_void_p, [c_uint64]),
    "dsm_ledger_destroy": (None, [c_void_p]),
    "dsm_ledger_reserved_bytes": (c_uint64, [c_void_p]),
    "dsm_configure_process": (c_int32, []),
    "dsm_peak_resident_bytes": (c_uint64, []),
    "dsm_job_create": (c_void_p, []),
    "dsm_job_destroy": (None, [c_void_p]),
    "dsm_job_set_options": (c_int32, [c_void_p, POINTER(Options)]),
    "dsm_job_set_input_path": (c_int32, [c_void_p, c_char_p]),
    "dsm_job_set_input_bytes": (c_int32, [c_void_p, c_void_p, c_size_t]),
    "dsm_job_set_input_reader": (c_int32, [c_void_p, POINTER(Reader)]),
    "dsm_job_add_path": (c_int32, [c_void_p, POINTER(Rendition), c_char_p, c_uint32]),
    "dsm_job_add_bytes": (c_int32, [c_void_p, POINTER(Rendition)]),
    "dsm_job_add_writer": (c_int32, [c_void_p, POINTER(Rendition), WriteFunction, c_void_p]),
    "dsm_job_add_rows": (c_int32, [c_void_p, POINTER(Rendition), c_int32, POINTER(RowSink)]),
    "dsm_job_probe": (c_int32, [c_void_p, POINTER(Header)]),
    "dsm_job_plan": (c_int32, [c_void_p, POINTER(Plan)]),
    "dsm_job_run": (c_int32, [c_void_p]),
    "dsm_job_cancel": (None, [c_void_p]),
    "dsm_job_message": (c_char_p, [c_void_p]),
    "dsm_job_report": (c_char_p, [c_void_p]),
    "dsm_job_warning": (c_char_p, [c_void_p, c_size_t]),
    "dsm_job_output": (c_int32, [c_void_p, c_size_t, POINTER(Output)]),
    "dsm_version": (c_char_p, []),
    "dsm_status_name": (c_char_p, [c_int32]),
}


def _load() -> ctypes.CDLL:
    named = os.environ.get("DOWNSAMPLE_LIBRARY")
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), _SONAME)
    path = named or (beside if os.path.exists(beside) else _SONAME)
    try:
        library = ctypes.CDLL(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = arguments
    except (OSError, AttributeError) as error:
        raise ImportError(
            f"the C library of downsample cannot be used: {error}; install it, or set DOWNSAMPLE_LIBRARY to its path"
        ) from error
    return library


# Calls through it let go of the interpreter's lock.
library = _load()
