"""Plug-ins are found by their entry points, off until turned on, and skipped completely on an error."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from app import paths
from app.permissions.approval import Denied
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings, VaultSettings
from app.toolkit.call import Call
from app.toolkit.plugins import ENTRY_POINT_GROUP, Plugin, find_plugin_packages, load_plugins
from app.toolkit.registry import AccessLevel, Category, ToolRegistry
from app.toolkit.result import ToolResult
from app.toolkit.tool import Tool, tool
from app.tools import CATALOG, CATEGORIES
from app.workspace.opening import open_workspace
from tests.support.approver import ScriptedApprover

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "resources" / "plugins-example"
AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", uses_model=False)
USER = "---\ntype: user\nmail: a@b.org\n---\nA person.\n"


def install(target: Path) -> None:
    """Install the example like an installer: its package, and the metadata of its pyproject."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    shutil.copytree(EXAMPLE / "src", target, ignore=shutil.ignore_patterns("__pycache__"))
    info = target / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(head, "utf-8")
    points = "".join(
        f"{name} = {value}\n" for name, value in project["entry-points"][ENTRY_POINT_GROUP].items()
    )
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\n{points}", "utf-8")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    target = tmp_path / "site"
    install(target)
    monkeypatch.syspath_prepend(str(target))
    importlib.invalidate_caches()
    yield target
    for name in [name for name in sys.modules if name.partition(".")[0] == "scriptorium_customer_support"]:
        del sys.modules[name]


async def test_the_example_is_found_turned_on_called_approved(installed: Path, sample_vault: Path) -> None:
    (sample_vault / "Ada.md").write_text(USER, "utf-8")
    approver = ScriptedApprover()
    settings = Settings()
    settings.embeddings.enabled = False
    workspace = await open_workspace(sample_vault, settings, approver)
    try:
        await workspace.start_scan(lambda progress: None)
        assert not [notice for notice in workspace.notices if "plug-in" in notice]
        found = {"op": "find", "query": "a@b.org"}
        assert not workspace.registry.category("customer_support").on
        off = await workspace.runner.run(Call.of("user", found, AGENT))
        assert off.error is not None and off.error["type"] == "permission_denied"
        assert "user" not in [one.name for one in workspace.registry.tools(AGENT)]

        workspace.change_vault_settings(VaultSettings(categories={"customer_support": True}))
        outcome = await workspace.runner.run(Call.of("user", found, AGENT))
        assert outcome.success and outcome.result["records"][0]["name"] == "Ada"
        change = {"op": "update", "name": "Ada", "properties": {"mail": "ada@c.org"}}
        assert (await workspace.runner.run(Call.of("user", change, AGENT))).success
        assert [request.tool for request in approver.asked] == ["user"]
        assert (sample_vault / "Ada.md").read_text("utf-8") == USER.replace("a@b.org", "ada@c.org")
        assert (await workspace.runner.run(Call.of("undo", {}, AGENT))).success
        assert (sample_vault / "Ada.md").read_text("utf-8") == USER

        approver.answers = [Denied("no")]
        assert (await workspace.runner.run(Call.of("user", change, AGENT))).denied
        assert (sample_vault / "Ada.md").read_text("utf-8") == USER
    finally:
        await workspace.close()


def test_the_examples_own_tests_pass(tmp_path: Path) -> None:
    target = tmp_path / "site"
    install(target)
    paths = os.pathsep.join([str(ROOT), str(target)])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTEST_ADDOPTS": ""}
    # Of the plug-ins here, which take a second to import, the example needs one.
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    shutil.copytree(EXAMPLE / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "pytest_asyncio.plugin",
            "-p",
            "no:cacheprovider",
            "-o",
            "asyncio_mode=auto",
            "--rootdir",
            str(tmp_path),
            str(tmp_path / "tests"),
        ],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "passed" in result.stdout


# Skipped plug-ins

OWN = Category("own", "Own", AccessLevel.READ_WRITE)


def make_tool(name: str, category: str = "own") -> Tool:
    async def function(context: object) -> ToolResult:
        return ToolResult()

    function.__name__ = name
    function.__doc__ = "Do nothing."
    return tool(category=category)(function)


BROKEN = Plugin((OWN,), (make_tool("first"), make_tool("read_note")))
FOREIGN = Plugin((OWN,), (make_tool("first", "notes"),))
TAKEN = Plugin((Category("notes", "Mine", AccessLevel.READ_WRITE),), ())
FINE = Plugin((OWN,), (make_tool("first"),))
EXECUTES = Plugin((Category("own", "Own", AccessLevel.READ_ONLY, on=True),), ())
NO_TOOL = Plugin((OWN,), ("first",))  # type: ignore[arg-type]
NOTHING = "no plug-in"


def added_categories(registry: ToolRegistry) -> tuple[str, ...]:
    built_in = {category.id for category in CATEGORIES}
    return tuple(category.id for category in registry.categories if category.id not in built_in)


def loaded(*values: str) -> tuple[ToolRegistry, tuple[str, ...], tuple[str, ...]]:
    registry = ToolRegistry(CATEGORIES, CATALOG)
    entries = [EntryPoint(f"p{at}", value, ENTRY_POINT_GROUP) for at, value in enumerate(values)]
    problems = load_plugins(registry, entries)
    return registry, added_categories(registry), problems


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (f"{__name__}:BROKEN", "read_note"),
        (f"{__name__}:FOREIGN", "does not define"),
        (f"{__name__}:TAKEN", "notes"),
        (f"{__name__}:NOTHING", "not a Plugin"),
        (f"{__name__}:NO_TOOL", "not created with @tool"),
        (f"{__name__}:missing", "AttributeError"),
        ("no_such_module_of_anybody:PLUGIN", "ModuleNotFoundError"),
        ("tests.support.plugin_that_exits:PLUGIN", "SystemExit"),
    ],
)
def test_a_plug_in_with_something_wrong_is_left_out_as_a_whole(value: str, told: str) -> None:
    registry, categories, (problem,) = loaded(value)
    assert told in problem and "p0" in problem
    assert categories == ()
    assert registry.categories == CATEGORIES and registry.all_tools() == CATALOG


def test_a_failing_plug_in_does_not_prevent_loading_others() -> None:
    registry, categories, problems = loaded("no_such_module_of_anybody:PLUGIN", f"{__name__}:FINE")
    assert categories == ("own",) and len(problems) == 1
    assert registry.get("first").category == "own"


def test_the_second_plug_in_with_a_name_is_skipped() -> None:
    _, categories, (problem,) = loaded(f"{__name__}:FINE", f"{__name__}:FINE")
    assert categories == ("own",) and "p1" in problem


def test_a_category_of_a_plug_in_is_off_by_default() -> None:
    registry, _, problems = loaded(f"{__name__}:EXECUTES")
    assert not problems and not registry.category("own").on


# The user's plug-in folder


@pytest.fixture
def user_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield paths.plugin_folder()
    for name in [name for name in sys.modules if name.partition(".")[0] == "scriptorium_customer_support"]:
        del sys.modules[name]


def loaded_from_folder(*on: str) -> tuple[ToolRegistry, tuple[str, ...], tuple[str, ...]]:
    registry = ToolRegistry(CATEGORIES, CATALOG)
    problems = load_plugins(registry, enabled=on)
    return registry, added_categories(registry), problems


def test_a_plug_in_in_the_folder_is_listed_and_not_loaded(user_folder: Path) -> None:
    install(user_folder / "support")
    (user_folder / "broken.whl").write_bytes(b"no wheel")
    (user_folder / "empty").mkdir()
    (user_folder / "readme.txt").touch()
    broken, empty, support = find_plugin_packages()
    assert support.title.startswith("scriptorium-customer-support ") and not support.problem
    assert broken.problem and empty.problem
    registry, categories, problems = loaded_from_folder()
    assert categories == () and problems == () and registry.all_tools() == CATALOG
    assert not any(str(user_folder) in one for one in sys.path)
    assert "scriptorium_customer_support" not in sys.modules


@pytest.mark.parametrize("as_wheel", [False, True])
def test_a_plug_in_that_is_switched_on_brings_its_tools(user_folder: Path, as_wheel: bool) -> None:
    install(user_folder / "support")
    name = "support"
    if as_wheel:
        name = "support-1.0-py3-none-any.whl"
        made = shutil.make_archive(str(user_folder / "support"), "zip", user_folder / "support")
        Path(made).rename(user_folder / name)
        shutil.rmtree(user_folder / "support")
    registry, categories, problems = loaded_from_folder(name)
    assert problems == () and categories == ("customer_support",)
    assert registry.get("user").category == "customer_support"
    assert Path(sys.path[-1]) == user_folder / name, "after everything of the app"
    _, categories, _ = loaded_from_folder()
    assert categories == (), "switched off, it is not found in Python's path either"
    _, categories, problems = loaded_from_folder("gone", name)
    assert categories == ("customer_support",) and problems == ()
