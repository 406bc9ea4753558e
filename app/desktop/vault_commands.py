"""The functions behind the commands that need an open vault, as named in `shell.command_registry`.

Without an open vault, they do nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.desktop.bookmarks.panel import BookmarksPanel
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import translate

if TYPE_CHECKING:
    from app.desktop.main_window import MainWindow
    from app.desktop.notes.tabs import NoteTabs


def _tabs(window: MainWindow) -> NoteTabs | None:
    return window.view.notes if window.view is not None else None


def create_note(window: MainWindow) -> None:
    """Ask for the name of a new note and create it."""
    if window.view is not None:
        window.view.commands.run_command("new-note", "")


def reveal_vault(window: MainWindow) -> None:
    """Show the vault's folder in the file manager."""
    if window.view is not None:
        window.view.commands.run_command("reveal", "")


def run_writing_command(window: MainWindow, name: str) -> None:
    """Run a command of `WritingCommands`."""
    if window.view is not None:
        window.view.writing.run_command(name)


def run_in_note(window: MainWindow, name: str) -> None:
    """Run a command in the active note view."""
    if (tabs := _tabs(window)) is not None:
        tabs.run_command(name)


def run_note_command(window: MainWindow, name: str) -> None:
    """Run a menu command on the active note."""
    if (tabs := _tabs(window)) is not None:
        tabs.request_command(name)


def close_tab(window: MainWindow) -> None:
    """Close the active tab."""
    if (tabs := _tabs(window)) is not None:
        tasks.start(tabs.close_current(), action=translate("Commands", "close the tab"))


def reopen_tab(window: MainWindow) -> None:
    """Open the tab that was closed last."""
    if (tabs := _tabs(window)) is not None:
        tabs.reopen()


def show_next_tab(window: MainWindow) -> None:
    """Show the tab to the right."""
    if (tabs := _tabs(window)) is not None:
        tabs.step(1)


def show_previous_tab(window: MainWindow) -> None:
    """Show the tab to the left."""
    if (tabs := _tabs(window)) is not None:
        tabs.step(-1)


def split_notes(window: MainWindow) -> None:
    """Show the active note in a second group of tabs."""
    if (tabs := _tabs(window)) is not None:
        tabs.split()


def toggle_bookmark(window: MainWindow) -> None:
    """Bookmark the active note, or remove its bookmark."""
    if (view := window.view) is None or not (path := view.context.note_path):
        return
    if (panel := view.page.panel("bookmarks", BookmarksPanel)) is not None:
        is_added = panel.toggle(path)
        view.done.emit(
            translate("Commands", "Bookmarked") if is_added else translate("Commands", "Bookmark removed")
        )


def show_search(window: MainWindow) -> None:
    """Show the search and focus its field."""
    if window.view is not None:
        window.view.context.focus_search()


def focus_agent(window: MainWindow) -> None:
    """Show the agent and focus its prompt."""
    if window.view is not None:
        window.view.context.prompt_agent("")


def show_side_panel(window: MainWindow, panel_id: str) -> None:
    """Show a side panel; hide the side if it already shows this panel."""
    if window.view is not None:
        window.view.page.show_side(panel_id, collapse=True)


def show_bottom_panel(window: MainWindow, panel_id: str) -> None:
    """Show a panel at the bottom."""
    if window.view is not None:
        window.view.page.show_bottom(panel_id)


def toggle_area(window: MainWindow, area: str) -> None:
    """Show or hide an area of the window."""
    if window.view is not None:
        window.view.page.toggle(area)


def run_in_graph(window: MainWindow, name: str) -> None:
    """Show the graph and run one of its commands."""
    if window.view is not None and (graph := window.view.graph) is not None:
        window.view.page.show_area("graph")
        graph.run_command(name)
