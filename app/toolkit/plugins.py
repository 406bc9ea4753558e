"""Plug-ins: packages that add categories of tools, found by their `scriptorium.tools` entry points.

The app looks for them in the packages of its own Python and in the user's plug-in folder, which also works
for an installed app. A plug-in in that folder is a wheel, or a folder that `pip install --target` creates.
Its code runs with all of the app's permissions, so it is not loaded until the user enables it.

A plug-in's tools use the same runner, gate and context as the built-in ones: views that read, and methods to
propose a change. Its categories are off until the user turns them on. A plug-in that fails to load or uses an
existing name is skipped completely, and the user sees the reason.

    [project.entry-points."scriptorium.tools"]
    customer_support = "scriptorium_customer_support:PLUGIN"
"""

from __future__ import annotations

import functools
import importlib
import logging
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, distributions
from pathlib import Path

from app import paths
from app.errors import InvalidParametersError
from app.toolkit.registry import Category, ToolRegistry
from app.toolkit.tool import Tool

log = logging.getLogger(__name__)

ENTRY_POINT_GROUP = "scriptorium.tools"


@dataclass(frozen=True, slots=True)
class Plugin:
    """The object that an entry point provides: categories, and tools that belong to them."""

    categories: tuple[Category, ...]
    tools: tuple[Tool, ...]


@dataclass(frozen=True, slots=True)
class PluginPackage:
    """A plug-in in the user's folder.

    `name` is the name of its file or folder, which identifies it in the settings. `title` names its packages
    with their versions. `problem` explains why it can't be used, or is empty.
    """

    name: str
    path: Path
    title: str
    problem: str = ""


def find_plugin_packages() -> tuple[PluginPackage, ...]:
    """Return the plug-ins in the user's folder, sorted by name, without loading them."""
    candidates = sorted(paths.plugin_folder().iterdir())
    return tuple(_read_package(path) for path in candidates if path.is_dir() or path.suffix == ".whl")


def _read_package(path: Path) -> PluginPackage:
    try:
        packages = [
            package
            for package in distributions(path=[str(path)])
            if package.entry_points.select(group=ENTRY_POINT_GROUP)
        ]
        titles = [f"{package.metadata['Name']} {package.version}" for package in packages]
    except Exception as error:  # The metadata is untrusted: report any error in it.
        return PluginPackage(path.name, path, path.name, f"Its metadata can't be read: {error}")
    if not titles:
        return PluginPackage(
            path.name, path, path.name, f"It has no entry point in the group {ENTRY_POINT_GROUP}."
        )
    return PluginPackage(path.name, path, ", ".join(titles))


def load_plugins(
    registry: ToolRegistry, entry_points: Iterable[EntryPoint] | None = None, *, enabled: Collection[str] = ()
) -> tuple[str, ...]:
    """Register the categories (turned off) and the tools of the plug-ins; skip plug-ins that fail.

    Runs the plug-ins' code, and adds the enabled ones in the user's folder to Python's module path.

    Args:
        registry: The registry, which already contains the built-in tools, so that no plug-in can use their
            names.
        entry_points: The plug-ins' entry points; by default those of the running Python and of the enabled
            plug-ins.
        enabled: The names of the enabled plug-ins in the user's folder.

    Returns:
        An explanation for each plug-in that was skipped.
    """
    all_entry_points = (
        (*_installed_entry_points(_search_path()), *_enabled_entry_points(enabled))
        if entry_points is None
        else entry_points
    )
    problems: list[str] = []
    for entry in sorted(all_entry_points, key=lambda point: (point.name, point.value)):
        try:
            _register(registry, _load_plugin(entry))
        except (Exception, SystemExit) as error:  # The app must survive any exception in a plug-in's module.
            log.warning("the plug-in %s was not loaded", entry.name, exc_info=error)
            reason = getattr(error, "message", "") or f"{type(error).__name__}: {error}"
            problems.append(f"The plug-in {_plugin_label(entry)} was not loaded: {reason}")
    return tuple(problems)


def _search_path() -> tuple[str, ...]:
    """Return Python's module search path without the plug-ins that are or were enabled."""
    plugin_folder = paths.plugin_folder()
    return tuple(path for path in sys.path if not Path(path).is_relative_to(plugin_folder))


@functools.cache
def _installed_entry_points(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points on `path`; cached, because every vault needs them and a read takes 15 ms."""
    return _entry_points(path)


def _enabled_entry_points(names: Collection[str]) -> tuple[EntryPoint, ...]:
    """Return the entry points of these plug-ins in the user's folder, and extend the module path."""
    packages = find_plugin_packages() if names else ()
    locations = [str(package.path) for package in packages if package.name in names and not package.problem]
    if new_locations := [location for location in locations if location not in sys.path]:
        # Appended, so that a plug-in can't replace one of the app's modules.
        sys.path.extend(new_locations)
        importlib.invalidate_caches()
    return _entry_points(tuple(locations))


def _entry_points(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the plug-in entry points of the packages on `path`; the first package with a name wins."""
    points_by_package: dict[str, tuple[EntryPoint, ...]] = {}
    for package in distributions(path=list(path)):
        if points := tuple(package.entry_points.select(group=ENTRY_POINT_GROUP)):
            points_by_package.setdefault(package.metadata["Name"], points)
    return tuple(point for points in points_by_package.values() for point in points)


def _load_plugin(entry: EntryPoint) -> Plugin:
    plugin = entry.load()
    if not isinstance(plugin, Plugin):
        raise InvalidParametersError(f"{entry.value} is not a Plugin (app.toolkit.plugins.Plugin).")
    if not all(isinstance(category, Category) for category in plugin.categories):
        raise InvalidParametersError("One of its categories is not a Category.")
    if not all(isinstance(tool, Tool) for tool in plugin.tools):
        raise InvalidParametersError("One of its tools was not created with @tool.")
    own_categories = {category.id for category in plugin.categories}
    for tool in plugin.tools:
        if tool.category not in own_categories:
            raise InvalidParametersError(
                f"Its tool {tool.name} is in the category {tool.category}, which it does not define."
            )
    return plugin


def _register(registry: ToolRegistry, plugin: Plugin) -> None:
    """Register the whole plug-in, or nothing if a part of it fails."""
    for tool in plugin.tools:
        _ = tool.schema  # Built now, so that unsupported types are reported.
    undo_steps: list[Callable[[], None]] = []
    try:
        for category in plugin.categories:
            undo_steps.append(registry.add_category(replace(category, on=False)))
        for tool in plugin.tools:
            undo_steps.append(registry.register(tool))
    except InvalidParametersError:
        for step in reversed(undo_steps):
            step()
        raise


def _plugin_label(entry: EntryPoint) -> str:
    return f"{entry.name} ({entry.dist.name})" if entry.dist is not None else entry.name
