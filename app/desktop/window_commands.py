"""The functions of the commands of the window; named in `shell.command_registry`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from app.desktop.main_window import MainWindow

_ZOOM_STEP = 0.1


def open_folder(window: MainWindow) -> None:
    """Ask for a folder and open it as a vault."""
    window.pick_folder()


def open_sample(window: MainWindow) -> None:
    """Open the user's own copy of the sample vault."""
    window.open_sample()


def close_vault(window: MainWindow) -> None:
    """Close the vault; the next start shows the welcome page."""
    window.close_vault()


def quit_app(window: MainWindow) -> None:
    """Close the window."""
    window.close()


def show_settings(window: MainWindow) -> None:
    """Show the settings."""
    window.show_settings()


def show_note_palette(window: MainWindow) -> None:
    """Open the palette for going to a note."""
    window.finder.show_notes()


def show_command_palette(window: MainWindow) -> None:
    """Open the palette of commands and tools."""
    window.finder.show_commands()


def go_back(window: MainWindow) -> None:
    """Go back to the previous note."""
    window.navigation.back()


def go_forward(window: MainWindow) -> None:
    """Undo `go_back`."""
    window.navigation.forward()


def rescan(window: MainWindow) -> None:
    """Scan the vault for changes."""
    window.session.start_scan()


def zoom_in(window: MainWindow) -> None:
    """Make the interface larger."""
    window.set_zoom(window.theme.zoom + _ZOOM_STEP)


def zoom_out(window: MainWindow) -> None:
    """Make the interface smaller."""
    window.set_zoom(window.theme.zoom - _ZOOM_STEP)


def reset_zoom(window: MainWindow) -> None:
    """Show the interface at its normal size."""
    window.set_zoom(1.0)


def toggle_full_screen(window: MainWindow) -> None:
    """Enter or leave full screen."""
    window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen)


def set_theme(window: MainWindow, name: Literal["light", "dark", "high-contrast", "system"]) -> None:
    """Use a theme from now on."""
    window.change_general(theme=name)


def show_handbook(window: MainWindow) -> None:
    """Open the handbook at the page of the panel in focus."""
    window.show_handbook()


def show_help_page(window: MainWindow, page: str) -> None:
    """Open the help at a page."""
    window.show_help(page)


def check_for_updates(window: MainWindow) -> None:
    """Check for a new version now."""
    window.check_for_updates()
