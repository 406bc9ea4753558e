"""The cost of an import after Qt is loaded."""

from __future__ import annotations

import importlib
import linecache
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

import app.desktop

assert app.desktop


def test_the_source_of_a_module_imported_after_qt_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "imported_after_qt.py"
    file.write_text("from PySide6.QtCore import QObject\nMADE = QObject()\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    imported = importlib.import_module("imported_after_qt").MADE
    assert str(file) not in linecache.cache
    imported.setObjectName("as ever")
    assert imported.objectName() == "as ever"
    assert not hasattr(QObject, "set_object_name")
