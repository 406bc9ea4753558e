"""Folders outside the vault that are opened and closed; the file tool exists while one is open."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from app.errors import NotFoundError
from app.toolkit.document_stores import StoreRegistry
from app.toolkit.registry import ToolRegistry
from app.toolkit.sources import SourcesGate
from app.tools import CATALOG, CATEGORIES, FILE_TOOL


def folder(name):
    return SimpleNamespace(store=SimpleNamespace(place=f"files-{name}"), config=SimpleNamespace(name=name))


def test_a_folder_that_is_closed_twice_leaves_the_tool_to_the_others():
    registry = ToolRegistry(CATEGORIES, CATALOG)
    gate = SourcesGate(StoreRegistry(SimpleNamespace()), registry, FILE_TOOL)
    close_first, close_second = gate.open(folder("first")), gate.open(folder("second"))
    close_first()
    close_first()
    assert registry.get(FILE_TOOL.name).name == FILE_TOOL.name
    close_second()
    with pytest.raises(NotFoundError):
        registry.get(FILE_TOOL.name)
