"""The build of the C core."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_core", ROOT / "packaging" / "build_core.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def build_core() -> ModuleType:
    return loaded()


def test_without_a_compiler_one_from_pypi_is_suggested(build_core, monkeypatch):
    monkeypatch.setattr(build_core, "compilers", lambda: [])
    monkeypatch.setattr(build_core.platform, "machine", lambda: "x86_64")
    assert build_core.requirements() == [build_core.ZIG]
    monkeypatch.setattr(build_core.platform, "machine", lambda: "riscv64")
    assert build_core.requirements() == []


def test_a_broken_compiler_counts_as_none(build_core, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", f"{sys.executable} -c raise(SystemExit(1))")
    assert not any(build_core.can_compile(each) for each in build_core.compilers())
    with pytest.raises(build_core.BuildError):
        build_core.build(tmp_path / build_core.file_name())
    assert list(tmp_path.iterdir()) == []


def test_a_missing_compiler_is_reported(build_core, tmp_path):
    with pytest.raises(build_core.BuildError, match="no-such-compiler"):
        build_core.build(tmp_path / build_core.file_name(), ["no-such-compiler"])


def test_it_is_built_without_python_s_headers(build_core, monkeypatch, tmp_path):
    """As on Debian without python3-dev: the declarations of the stable ABI are used."""
    if build_core.is_free_threaded() or os.name == "nt":
        pytest.skip("this Python has no stable ABI, or needs its import library")
    if not any(build_core.can_compile(each) for each in build_core.compilers()):
        pytest.skip("no C compiler here")
    monkeypatch.setattr(build_core.sysconfig, "get_path", lambda name: str(tmp_path / "nowhere"))
    target = tmp_path / build_core.file_name()
    build_core.build(target)
    use = (
        "import sys; sys.path.insert(0, sys.argv[1]); import _graphcore as core, array\n"
        "numbers = memoryview(bytearray(80)).cast('B').cast('f', (10, 2))\n"
        "assert core.build(core.tree(), numbers, None) == 1\n"
        "try: core.build(core.tree(), numbers, array.array('d', [1.0]))\n"
        "except TypeError as error: assert 'mass: needs float32' in str(error)\n"
    )
    subprocess.run([sys.executable, "-c", use, str(tmp_path)], check=True)


def test_without_the_core_the_app_says_how_to_build_it():
    code = (
        "import sys; sys.modules['app.graph._graphcore'] = None\n"
        "from app.cli.installation_checks import check_installation\n"
        "core = next(one for one in check_installation() if one.what == 'graph core')\n"
        "print(core.state, core.message, core.hint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("wrong The graph's C core is missing")
    assert "packaging/build_core.py" in done.stdout


def test_a_build_without_the_core_fails(monkeypatch):
    class Hook:
        def abort(self, message: str) -> None:
            sys.exit(message)

        app = property(lambda self: self)

    for name in (
        "hatchling",
        "hatchling.builders",
        "hatchling.builders.hooks",
        "hatchling.builders.hooks.plugin",
    ):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    interface = ModuleType("interface")
    interface.BuildHookInterface = Hook
    monkeypatch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", interface)
    module = loaded()
    monkeypatch.setattr(module, "compilers", lambda: [])
    hook = module.CoreHook()
    with pytest.raises(SystemExit, match="install a C compiler"):
        hook.initialize("standard", {"force_include": {}})
    hook.finalize("standard", {}, "")


FORMATS = {
    "x86_64-windows-gnu": b"MZ",
    "aarch64-windows-gnu": b"MZ",
    "x86_64-macos": b"\xcf\xfa\xed\xfe",
    "aarch64-macos": b"\xcf\xfa\xed\xfe",
    "x86_64-linux-gnu": b"\x7fELF",
    "aarch64-linux-gnu": b"\x7fELF",
}


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="takes ziglang")
@pytest.mark.parametrize("platform", FORMATS)
def test_the_core_is_built_for_every_platform(build_core, tmp_path, platform):
    target = tmp_path / "core"
    build_core.cross_build(platform, target)
    made = target.read_bytes()
    assert made.startswith(FORMATS[platform])
    assert b"PyInit__graphcore" in made
    assert b"python3.dll" in made or "windows" not in platform


def test_every_platform_has_a_format_and_without_ziglang_it_is_asked_for(build_core, tmp_path, monkeypatch):
    assert set(FORMATS) == set(build_core.PLATFORMS)
    monkeypatch.setattr(build_core.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(build_core.BuildError, match="pip install ziglang"):
        build_core.cross_build("aarch64-macos", tmp_path / "core.so")
