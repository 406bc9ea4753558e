"""Open the help, with the tools and note names of the open vault if there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.desktop.help.dialog import HelpDialog
from app.desktop.help.handbook import HelpPage, example_names
from app.desktop.help.pages import FIRST, help_pages, page_id
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.desktop.bridge import VaultClient
    from app.desktop.theme.theme import ThemeSource
    from app.workspace import VaultService


async def open_help(
    window: QWidget,
    theme: ThemeSource,
    client: VaultClient | None,
    page: str,
    run_tool: Callable[[str], None],
) -> None:
    """Show the help in a new dialog.

    Args:
        window: The window that the help belongs to.
        theme: The current theme.
        client: The open vault, or None.
        page: An id, a title, or `panel:` and the id of a panel; an unknown one shows the first page.
        run_tool: Called with the name of a tool that the user wants to run with its form.

    Raises:
        OSError: A page can't be read.
        ValueError: A page of the handbook is invalid.
    """
    if client is not None:
        pages = await client.run(_pages_of)
    else:
        pages = await asyncio.to_thread(lambda: help_pages(ToolRegistry(CATEGORIES, CATALOG)))
    dialog = HelpDialog(pages, theme, client is not None, window, page_id(pages, page) or FIRST)
    dialog.tool_requested.connect(run_tool)
    dialog.show()


def _pages_of(vault: VaultService) -> tuple[HelpPage, ...]:
    return help_pages(vault.tools, example_names(vault))
