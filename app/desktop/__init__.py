"""The desktop front end: the only importer of PySide6 and qasync."""

import os

# qasync would take another binding of Qt where one is installed.
os.environ.setdefault("QT_API", "pyside6")
