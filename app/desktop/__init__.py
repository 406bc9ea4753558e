"""The desktop front end: the only package that imports PySide6 and qasync."""

import contextlib
import importlib
import os

# Otherwise qasync would use another Qt binding if one is installed.
os.environ.setdefault("QT_API", "pyside6")

# PySide6 supports two spellings of its names. To detect which one a module uses, it reads the source of every
# module imported after it, including all libraries, which takes a tenth of the startup time and keeps the
# text in memory. We use the default spelling. A version of PySide6 without this search needs no change.
importlib.import_module("PySide6.QtCore")
with contextlib.suppress(ImportError):
    _spellings = vars(importlib.import_module("shibokensupport.feature"))
    if callable(_spellings.get("_mod_uses_pyside")):
        _spellings["_mod_uses_pyside"] = lambda module: False
