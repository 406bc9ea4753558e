"""Freed memory back to the system: what a scan has used and let go of stays with the process otherwise."""

from __future__ import annotations

import ctypes
import sys


def trim() -> None:
    """Return freed pages to the system, where the C library can (glibc); some milliseconds, in a thread."""
    if sys.platform != "linux":
        return
    function = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if function is not None:
        function.argtypes = [ctypes.c_size_t]
        function.restype = ctypes.c_int
        function(0)
