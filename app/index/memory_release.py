"""Return freed memory to the system: after a scan, glibc would otherwise keep much of it."""

from __future__ import annotations

import ctypes
import sys

_M_ARENA_MAX = -8
_MAX_ARENAS = 2


def release_memory() -> None:
    """Release freed pages to the system, if the C library can (glibc).

    This takes milliseconds, so call it in a worker thread.
    """
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim.argtypes = [ctypes.c_size_t]
        trim(0)


def limit_arenas() -> None:
    """Limit the threads to two shared heaps if the C library supports it (glibc); call before they start.

    Otherwise, each of some thirty threads keeps the freed memory of its own heap. Python's threads rarely
    allocate at the same time.
    """
    if sys.platform == "linux" and (option := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        option(_M_ARENA_MAX, _MAX_ARENAS)
