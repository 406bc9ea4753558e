"""Return of freed memory to the system, which the process would otherwise keep after a scan."""

from __future__ import annotations

import ctypes
import sys


def release_memory() -> None:
    """Release freed pages to the system, if the C library can (glibc); takes milliseconds, use a thread."""
    if sys.platform != "linux":
        return
    function = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if function is not None:
        function.argtypes = [ctypes.c_size_t]
        function.restype = ctypes.c_int
        function(0)
