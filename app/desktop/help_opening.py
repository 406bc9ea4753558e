"""Opening the help over the window: with the tools of the open vault, or those that the app comes with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.desktop.help_dialog import HelpDialog
from app.desktop.help_pages import help_pages
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.desktop.bridge import VaultClient
    from app.desktop.theme import ThemeSource


async def open_help(
    window: QWidget,
    theme: ThemeSource,
    client: VaultClient | None,
    page: str,
    run_tool: Callable[[str], None],
) -> None:
    """Show the help at `page`; `run_tool` is called with the name of a tool to be run by its form."""
    if client is not None:
        pages = await client.run(lambda workspace: help_pages(workspace.registry))
    else:
        pages = await asyncio.to_thread(lambda: help_pages(ToolRegistry(CATEGORIES, CATALOG)))
    dialog = HelpDialog(pages, theme, client is not None, window)
    dialog.tool_wanted.connect(run_tool)
    dialog.show_page(page)
    dialog.show()
