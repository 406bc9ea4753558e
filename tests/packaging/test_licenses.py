"""The licenses of the run-time dependencies."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def licenses() -> ModuleType:
    spec = importlib.util.spec_from_file_location("licenses", ROOT / "packaging" / "licenses.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["licenses"] = module  # A dataclass looks up its module.
    spec.loader.exec_module(module)
    return module


def test_every_runtime_dependency_is_permissive_or_weak_copyleft(licenses):
    dependencies = licenses.runtime_dependencies()
    assert {"numpy", "PySide6_Essentials", "pydantic_core"} <= {each.name for each in dependencies}
    assert [f"{each.name}: {each.license or 'unknown'}" for each in dependencies if not each.allowed] == []


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("mit", True),
        ("GPL-2.0-or-later", False),
        ("AGPL-3.0-only", False),
        ("LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT AND GPL-2.0-only", False),
        ("(GPL-3.0-only OR MIT) AND BSD-3-Clause", True),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only", True),
        ("LicenseRef-Proprietary", False),
    ],
)
def test_an_expression_is_judged_by_its_choices(licenses, expression, allowed):
    assert licenses.is_allowed(expression) is allowed


def test_a_package_with_a_foreign_license_is_found_through_its_dependents(licenses, tmp_path, monkeypatch):
    for name, requires, stated in (
        ("front", "Requires-Dist: middle[more]", "License-Expression: MIT"),
        ("middle", 'Requires-Dist: back; extra == "more"\nProvides-Extra: more', "License: MIT License"),
        ("back", "", "License: GPL-2.0-or-later"),
    ):
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{stated}\n{requires}\n"
        )
    monkeypatch.syspath_prepend(tmp_path)
    assert [(each.name, each.allowed) for each in licenses.runtime_dependencies("front")] == [
        ("back", False),
        ("middle", True),
    ]
