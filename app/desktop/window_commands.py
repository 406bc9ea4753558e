"""The functions behind the window's commands, as named in `shell.command_registry`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from app.desktop.main_window import MainWindow

_ZOOM_STEP = 0.1


def quit_app(window: MainWindow) -> None:
    """Close the window."""
    window.close()


def show_note_palette(window: MainWindow) -> None:
    """Open the palette to go to a note."""
    window.palette_controller.show_notes()


def show_command_palette(window: MainWindow) -> None:
    """Open the palette of commands and tools."""
    window.palette_controller.show_commands()


def go_back(window: MainWindow) -> None:
    """Go back to the previous note or handbook page."""
    window.navigation.back()


def go_forward(window: MainWindow) -> None:
    """Go forward to the next note or handbook page."""
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
    """Switch to a theme and save the choice."""
    window.change_general(theme=name)
