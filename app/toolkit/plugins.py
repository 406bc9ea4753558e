"""Plug-ins: packages that bring categories of tools, found by their entry points `scriptorium.tools`.

They are found among the packages of the Python that runs the app, and in the user's plug-in folder, which an
installed app has as well. A plug-in there is a wheel, or a folder as `pip install --target` makes it. It is
code with all the rights of the app, so nothing of it is loaded until the user has switched it on.

A plug-in's tools go through the same runner and the same gate and are given the same context as ours: views
that read, and the words to propose a change. Its categories are off until the user turns them on. A plug-in
that fails to load, or takes a name that is taken, is left out as a whole, and that is told.

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
"""The group of the entry points."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """What an entry point gives: categories, and tools that belong to them."""

    categories: tuple[Category, ...]
    tools: tuple[Tool, ...]


@dataclass(frozen=True, slots=True)
class LoadedPlugins:
    """What came of the plug-ins: the ids of their categories, and a sentence about each that was left out."""

    categories: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PluginPackage:
    """A plug-in in the user's folder.

    `name` is that of its file or folder, by which it is switched on. `title` has the package's name and
    version. `problem` says why it can't be used; it is empty for one that can.
    """

    name: str
    path: Path
    title: str
    problem: str = ""


def plugin_packages(folder: Path | None = None) -> tuple[PluginPackage, ...]:
    """Return what is in the user's plug-in folder, sorted by name. Nothing of it is loaded.

    Args:
        folder: Where to look; the user's plug-in folder when left out.
    """
    places = sorted((folder or paths.plugin_folder()).iterdir())
    return tuple(_package(one) for one in places if one.is_dir() or one.suffix == ".whl")


def _package(path: Path) -> PluginPackage:
    try:
        found = [
            one for one in distributions(path=[str(path)]) if one.entry_points.select(group=ENTRY_POINT_GROUP)
        ]
        titles = [f"{one.metadata['Name']} {one.version}" for one in found]
    except Exception as error:  # The metadata is a stranger's file: whatever is wrong with it is told.
        return PluginPackage(path.name, path, path.name, f"Its metadata can't be read: {error}")
    if not titles:
        return PluginPackage(
            path.name, path, path.name, f"It has no entry point of the group {ENTRY_POINT_GROUP}."
        )
    return PluginPackage(path.name, path, ", ".join(titles))


def load_plugins(
    registry: ToolRegistry, found: Iterable[EntryPoint] | None = None, *, on: Collection[str] = ()
) -> LoadedPlugins:
    """Register the categories, all off, and the tools of every plug-in that is installed.

    Args:
        registry: Holds ours already, so that none of their names can be taken.
        found: The entry points; those of the running Python and of the plug-in folder when left out.
        on: The names of the plug-ins in the user's folder that are switched on.
    """
    entries = (*_installed(_search_path()), *_enabled_entry_points(on)) if found is None else found
    categories: list[str] = []
    problems: list[str] = []
    for entry in sorted(entries, key=lambda one: (one.name, one.value)):
        try:
            plugin = _load_plugin(entry)
            _register(registry, plugin)
        except (Exception, SystemExit) as error:  # Whatever a stranger's module raises: the app goes on.
            log.warning("the plug-in %s was left out", entry.name, exc_info=error)
            reason = getattr(error, "message", "") or f"{type(error).__name__}: {error}"
            problems.append(f"The plug-in {_plugin_label(entry)} was left out: {reason}")
        else:
            categories += [category.id for category in plugin.categories]
    return LoadedPlugins(tuple(categories), tuple(problems))


def _search_path() -> tuple[str, ...]:
    """Return where Python looks for modules, without the plug-ins that are or were switched on."""
    own = paths.plugin_folder()
    return tuple(one for one in sys.path if not Path(one).is_relative_to(own))


@functools.cache
def _installed(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Those found on `path`. Each vault asks, and the metadata of every package takes 15 ms to read."""
    return _entry_points(path)


def _enabled_entry_points(names: Collection[str]) -> tuple[EntryPoint, ...]:
    """Return the entry points of these plug-ins of the user's folder, and let Python find their modules."""
    usable = [one for one in plugin_packages() if one.name in names and not one.problem] if names else []
    places = [str(one.path) for one in usable]
    if fresh := [place for place in places if place not in sys.path]:
        # At the end: a plug-in must not put a module of its own in place of one of the app's.
        sys.path.extend(fresh)
        importlib.invalidate_caches()
    return _entry_points(tuple(places))


def _entry_points(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the group's entry points of the packages on `path`; of two of one name the first counts."""
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for one in distributions(path=list(path)):
        if points := tuple(one.entry_points.select(group=ENTRY_POINT_GROUP)):
            found.setdefault(one.metadata["Name"], points)
    return tuple(point for points in found.values() for point in points)


def _load_plugin(entry: EntryPoint) -> Plugin:
    plugin = entry.load()
    if not isinstance(plugin, Plugin):
        raise InvalidParametersError(f"{entry.value} is not a Plugin (app.toolkit.plugins.Plugin).")
    if not all(isinstance(one, Category) for one in plugin.categories):
        raise InvalidParametersError("One of its categories is not a Category.")
    if not all(isinstance(one, Tool) for one in plugin.tools):
        raise InvalidParametersError("One of its tools is not made by @tool.")
    own = {category.id for category in plugin.categories}
    for tool in plugin.tools:
        if tool.category not in own:
            raise InvalidParametersError(
                f"Its tool {tool.name} is in the category {tool.category}, which it does not bring."
            )
    return plugin


def _register(registry: ToolRegistry, plugin: Plugin) -> None:
    """Register all of it or nothing."""
    for tool in plugin.tools:
        _ = tool.schema  # Made when it is first asked for: a type that has none is told of here.
    undo: list[Callable[[], None]] = []
    try:
        for category in plugin.categories:
            undo.append(registry.add_category(replace(category, on=False)))
        for tool in plugin.tools:
            undo.append(registry.register(tool))
    except InvalidParametersError:
        for step in reversed(undo):
            step()
        raise


def _plugin_label(entry: EntryPoint) -> str:
    return f"{entry.name} ({entry.dist.name})" if entry.dist is not None else entry.name
