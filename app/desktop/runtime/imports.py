"""Import modules of the window in steps, so that it stays responsive.

A module that defines Qt classes must be imported in the GUI thread. PySide6 (observed in 6.11) registers its
classes in a hash table without a lock, and looks up an object's class there without holding the GIL. If
another thread defines a class at that moment, the process crashes with a segmentation fault. This happened
in one of 50 to 150 launches.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Iterable


async def import_in_steps(libraries: Iterable[str], modules: Iterable[str]) -> None:
    """Import libraries in a worker thread, then modules in the GUI thread.

    Args:
        libraries: Modules that don't import PySide6.
        modules: Modules of the window. The event loop runs between two of them, so each should import only
            a few modules that are not loaded yet.
    """
    await asyncio.to_thread(_import_all, tuple(libraries))
    for module in modules:
        importlib.import_module(module)
        await asyncio.sleep(0)


def _import_all(modules: Iterable[str]) -> None:
    for module in modules:
        importlib.import_module(module)
