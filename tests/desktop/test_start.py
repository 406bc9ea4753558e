"""Modules that a start does not load: each takes longer than the window may take to appear."""

from __future__ import annotations

import subprocess
import sys

from app.desktop import main_window, vault_lifecycle

WINDOW = "import app.desktop.application"
VAULT = (
    "from PySide6.QtWidgets import QApplication; gui = QApplication([])\n"
    "import asyncio, app.desktop.application, app.workspace, app.desktop.vault_lifecycle as v\n"
    "asyncio.run(v.preload_vault_view()); asyncio.run(v.warm_up())"
)


def loaded(code: str) -> set[str]:
    """Return the modules that `code` has loaded in a new process."""
    program = f"{code}\nimport sys; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


def test_the_window_is_shown_before_the_core_is_loaded() -> None:
    assert not loaded(WINDOW) & {"numpy", "yaml", "qtpy", "app.workspace", "app.desktop.vault_controller"}


def test_a_vault_with_a_saved_layout_is_shown_without_the_heaviest_libraries() -> None:
    modules = loaded(VAULT)
    assert "app.desktop.graph.panel" in modules
    assert not modules & {"scipy", "keyring", "qtpy", "onnxruntime", "tokenizers", "openai", "mcp", "torch"}
    assert not modules & {"httpx2", "httpcore2", "snowballstemmer"}


def test_the_libraries_that_a_thread_imports_define_no_qt_classes() -> None:
    libraries = (*vault_lifecycle.VIEW_LIBRARIES, *main_window.UPDATE_LIBRARIES)
    libraries += main_window.SETTINGS_LIBRARIES
    assert not loaded(f"import {', '.join(libraries)}") & {"PySide6", "app.desktop"}


def test_only_the_main_thread_imports_modules_of_the_window() -> None:
    code = (
        "import sys, threading\n"
        "others = set()\n"
        "def check(event, arguments):\n"
        "    is_qt = event == 'import' and arguments[0].startswith(('PySide6', 'app.desktop'))\n"
        "    if is_qt and threading.current_thread() is not threading.main_thread():\n"
        "        others.add(arguments[0])\n"
        "sys.addaudithook(check)\n"
        f"{VAULT}\n"
        "from app.desktop import main_window as m\n"
        "from app.desktop.runtime.imports import import_in_steps\n"
        "asyncio.run(import_in_steps(m.UPDATE_LIBRARIES, ['app.desktop.shell.update_check']))\n"
        "asyncio.run(import_in_steps(m.SETTINGS_LIBRARIES, m.SETTINGS_MODULES))\n"
        "sys.modules = {name: None for name in others}"
    )
    assert loaded(code) == set()


def test_finding_the_nodes_around_a_dragged_one_needs_no_scipy() -> None:
    code = (
        "from app.desktop.graph.interaction import gestures\n"
        "from tests.graph.graphs import of_edges\n"
        "assert gestures.affected_rows(of_edges(['ab', 'bc']), 0).tolist()[0] == 0"
    )
    assert "scipy" not in loaded(code)


def test_dragging_a_node_needs_little_of_scipy() -> None:
    assert not loaded("import app.graph.layouts.force_directed") & {
        "scipy.spatial",
        "scipy.special",
        "scipy.ndimage",
    }
