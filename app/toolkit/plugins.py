"""Plug-ins: packages that bring categories of tools, found by their entry points `scriptorium.tools`.

A plug-in's tools go through the same runner and the same gate and are given the same context as ours: views
that read, and the words to propose a change. Its categories are off until the user turns them on. A plug-in
that fails to load, or takes a name that is taken, is left out as a whole, and that is told.

    [project.entry-points."scriptorium.tools"]
    customer_support = "scriptorium_customer_support:PLUGIN"
"""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points

from app.errors import InvalidParametersError
from app.toolkit.registry import Category, ToolRegistry
from app.toolkit.tool import Tool

log = logging.getLogger(__name__)

GROUP = "scriptorium.tools"
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


def load_plugins(registry: ToolRegistry, found: Iterable[EntryPoint] | None = None) -> LoadedPlugins:
    """Register the categories, all off, and the tools of every plug-in that is installed.

    Args:
        registry: Holds ours already, so that none of their names can be taken.
        found: The entry points; those of the running Python when left out.
    """
    entries = _installed(tuple(sys.path)) if found is None else found
    categories: list[str] = []
    problems: list[str] = []
    for entry in sorted(entries, key=lambda one: (one.name, one.value)):
        try:
            plugin = _loaded(entry)
            _register(registry, plugin)
        except (Exception, SystemExit) as error:  # Whatever a stranger's module raises: the app goes on.
            log.warning("the plug-in %s was left out", entry.name, exc_info=error)
            reason = getattr(error, "message", "") or f"{type(error).__name__}: {error}"
            problems.append(f"The plug-in {_named(entry)} was left out: {reason}")
        else:
            categories += [category.id for category in plugin.categories]
    return LoadedPlugins(tuple(categories), tuple(problems))


@functools.cache
def _installed(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Those found on `path`. Each vault asks, and the metadata of every package takes 15 ms to read."""
    return tuple(entry_points(group=GROUP))


def _loaded(entry: EntryPoint) -> Plugin:
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


def _named(entry: EntryPoint) -> str:
    return f"{entry.name} ({entry.dist.name})" if entry.dist is not None else entry.name
