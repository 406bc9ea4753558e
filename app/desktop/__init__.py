"""The desktop front end: the only importer of PySide6 and qasync."""

import contextlib
import importlib
import os

# qasync would take another binding of Qt where one is installed.
os.environ.setdefault("QT_API", "pyside6")

# PySide6 can spell its names in two ways, and reads the source of every module that is imported after it, our
# own and all libraries', to see which one it uses: a tenth of the start, and all that text kept in memory.
# We use the ordinary one. Where a version has no such search there is nothing to leave out.
importlib.import_module("PySide6.QtCore")
with contextlib.suppress(ImportError):
    _spellings = vars(importlib.import_module("shibokensupport.feature"))
    if callable(_spellings.get("_mod_uses_pyside")):
        _spellings["_mod_uses_pyside"] = lambda module: False
