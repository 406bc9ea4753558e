"""The registry of tools and their categories, each of which is on or off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from rapidfuzz import process

from app.errors import InvalidParametersError, NotFoundError
from app.permissions.caller import Caller
from app.toolkit.tool import Tool


class AccessLevel(StrEnum):
    """The operations that a category's tools may perform; enforced by the gate.

    A network category may read, fetch from the web, and propose new notes, but can't change or delete
    existing ones.
    """

    READ_ONLY = "read-only"
    NETWORK = "network"
    READ_WRITE = "read-write"
    EXECUTE = "execute"


@dataclass(frozen=True, slots=True)
class Category:
    """A group of tools with one access level, one switch and one rate limit (calls per minute and caller)."""

    id: str
    name: str
    level: AccessLevel
    on: bool = True
    rate_per_minute: int = 120


MayCall = Callable[[Caller, str, str, str], bool]
"""Returns whether a caller may call a tool of a category, or one of its operations; see `Policy.may_call`."""


def _allow_everyone(caller: Caller, category: str, tool: str, op: str) -> bool:
    return True


class ToolCatalog(Protocol):
    """The tools by category, for documentation and tables."""

    @property
    def categories(self) -> tuple[Category, ...]:
        """All categories, whether on or off."""
        ...

    def all_tools(self) -> tuple[Tool, ...]:
        """Return all tools, whether their categories are on or off."""
        ...


class ToolRegistry:
    """Holds the tools by their names, which are unique.

    Args:
        categories: The categories; `add_category` adds more.
        tools: The tools to register first.
        may_call: Returns whether a caller may call a tool; `ToolRegistry.tools` leaves out the others.
        may_write: Returns whether a caller may do anything but read. To a caller that may not, a tool with
            side effects offers only its read-only part, if it has one.
        may_change_notes: Returns whether a caller may propose changes to notes; likewise for tools that
            change notes.
    """

    def __init__(
        self,
        categories: Iterable[Category],
        tools: Iterable[Tool] = (),
        may_call: MayCall = _allow_everyone,
        may_write: Callable[[Caller], bool] = lambda caller: True,
        may_change_notes: Callable[[Caller], bool] = lambda caller: True,
    ) -> None:
        self._categories = {category.id: category for category in categories}
        self._tools: dict[str, Tool] = {}
        self._may_call = may_call
        self._may_write = may_write
        self._may_change_notes = may_change_notes
        for tool in tools:
            self.register(tool)

    @property
    def categories(self) -> tuple[Category, ...]:
        """All categories, in the order in which they were added."""
        return tuple(self._categories.values())

    def register(self, tool: Tool) -> Callable[[], None]:
        """Add `tool`; the returned function removes it.

        Raises:
            InvalidParametersError: its name is taken, its category is unknown, or it changes notes in a
                read-only category.
        """
        if tool.name in self._tools:
            raise InvalidParametersError(f"A tool named {tool.name} already exists.", tool=tool.name)
        category = self.category(tool.category)
        if category.level is AccessLevel.READ_ONLY and tool.changes_notes:
            raise InvalidParametersError(
                f"{tool.name} proposes changes, but its category {category.id} is read-only.", tool=tool.name
            )
        self._tools[tool.name] = tool

        def unregister() -> None:
            if self._tools.get(tool.name) is tool:
                del self._tools[tool.name]

        return unregister

    def add_category(self, category: Category) -> Callable[[], None]:
        """Add `category`; the returned function removes it, and must be called after its tools are removed.

        Raises:
            InvalidParametersError: its id is taken.
        """
        if category.id in self._categories:
            raise InvalidParametersError(
                f"A category named {category.id} already exists.", category=category.id
            )
        self._categories[category.id] = category

        def remove() -> None:
            self._categories.pop(category.id, None)

        return remove

    def get(self, name: str) -> Tool:
        """Return the tool called `name`, whether its category is on or off.

        Raises:
            NotFoundError: there is no such tool; `suggestions` are near misses.
        """
        if name not in self._tools:
            suggestions = [
                match[0] for match in process.extract(name, list(self._tools), limit=3, score_cutoff=60)
            ]
            raise NotFoundError(f"There is no tool called {name!r}.", tool=name, suggestions=suggestions)
        return self._tools[name]

    def category(self, category_id: str) -> Category:
        """Return the category with this id.

        Raises:
            InvalidParametersError: there is no such category.
        """
        if category_id not in self._categories:
            raise InvalidParametersError(
                f"There is no category {category_id!r}.", category=category_id, allowed=list(self._categories)
            )
        return self._categories[category_id]

    def set_category(self, category_id: str, on: bool) -> None:
        """Switch a category on or off.

        Raises:
            InvalidParametersError: there is no such category.
        """
        self._categories[category_id] = replace(self.category(category_id), on=on)

    def all_tools(self) -> tuple[Tool, ...]:
        """Return all registered tools, whether their categories are on or off."""
        return tuple(self._tools.values())

    def tools(self, caller: Caller) -> list[Tool]:
        """Return the tools of enabled categories that `caller` may call.

        They lack the operations and arguments that the caller may not use.
        """
        tools = (
            self._variant_for(caller, tool)
            for tool in self._tools.values()
            if self.category(tool.category).on
        )
        return [tool for tool in tools if tool is not None]

    def _variant_for(self, caller: Caller, tool: Tool) -> Tool | None:
        if not self._may_call(caller, tool.category, tool.name, ""):
            return None
        has_effect = tool.acts or self.category(tool.category).level is not AccessLevel.READ_ONLY
        if (has_effect and not self._may_write(caller)) or (
            tool.changes_notes and not self._may_change_notes(caller)
        ):
            read_only = tool.read_only_variant()
            if read_only is None:
                return None
            tool = read_only
        if not tool.operations:
            return tool
        operations = tuple(
            op for op in tool.operations if self._may_call(caller, tool.category, tool.name, op)
        )
        return tool.with_only(operations) if operations else None
