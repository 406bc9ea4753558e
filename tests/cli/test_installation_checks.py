"""The doctor's advice matches the kind of installation."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

import app.graph
from app import paths
from app.cli import installation_checks
from app.cli.diagnostics import CheckResult, Severity
from app.embeddings import multilingual
from app.embeddings.model_config import MULTILINGUAL, model_folder


def check_result(what: str) -> CheckResult:
    (one,) = (one for one in installation_checks.check_installation() if one.what == what)
    return one


@pytest.fixture(params=[False, True], ids=["source", "installed"])
def is_installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param:
        resources = paths.resources_folder()
        monkeypatch.setattr(sys, "frozen", True, raising=False)
        monkeypatch.setattr(paths, "resources_folder", lambda: resources)
    return bool(request.param)


def test_the_hint_for_a_missing_core_matches_the_installation(is_installed: bool, monkeypatch) -> None:
    monkeypatch.delattr(app.graph, "core_bindings", raising=False)
    monkeypatch.setitem(sys.modules, "app.graph.core_bindings", None)
    hint = check_result("graph core").hint
    assert ("installer" in hint) is is_installed and ("build_core.py" in hint) is not is_installed


def test_the_hint_for_a_damaged_model_matches_the_installation(
    is_installed: bool, monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(paths, "resources_folder", lambda: tmp_path)
    model = check_result("sentence model")
    assert model.state is Severity.WRONG and ("installer" in model.hint) is is_installed


def test_the_multilingual_model_is_checked_where_it_is(is_installed: bool, monkeypatch) -> None:
    monkeypatch.setattr(multilingual, "installed_weights", lambda: None)
    absent = check_result("multilingual model")
    assert absent.state is Severity.OK and ("--multilingual" in absent.message) is not is_installed
    folder = model_folder(MULTILINGUAL)
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"cut off")
    damaged = check_result("multilingual model")
    assert damaged.state is Severity.WRONG and ("installer" in damaged.hint) is is_installed


def test_an_installed_app_needs_no_other_python(is_installed: bool, monkeypatch) -> None:
    monkeypatch.setattr(installation_checks, "_MAX_PYTHON", (3, 0))
    assert (check_result("Python").state is Severity.OK) is is_installed


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the rights of folders otherwise")
def test_a_new_folder_of_the_app_is_closed_to_others(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCRIPTORIUM_DATA", str(tmp_path / "new" / "data"))
    assert stat.S_IMODE(paths.data_folder().stat().st_mode) == 0o700
    assert check_result("data folder").state is Severity.OK
