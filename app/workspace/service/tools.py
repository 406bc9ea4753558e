"""The tools of the vault and their categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.permissions.caller import Caller
    from app.permissions.policy import Policy
    from app.toolkit.registry import Category, ToolRegistry
    from app.toolkit.tool import Tool


class ToolService:
    """The tools, and those that a caller may use."""

    def __init__(self, registry: ToolRegistry, policy: Policy) -> None:
        self._registry = registry
        self._policy = policy

    @property
    def categories(self) -> tuple[Category, ...]:
        """Every category."""
        return self._registry.categories

    @property
    def categories_off(self) -> frozenset[str]:
        """The categories that the permissions turn off."""
        return self._policy.categories_off

    def category(self, category_id: str) -> Category:
        """Return the category with this id.

        Raises:
            InvalidParametersError: There is no such category.
        """
        return self._registry.category(category_id)

    def all_tools(self) -> tuple[Tool, ...]:
        """Return every tool, whether its category is on or off."""
        return self._registry.all_tools()

    def tools(self, caller: Caller) -> list[Tool]:
        """Return the tools that `caller` may use."""
        return self._registry.tools(caller)
