"""The window's notes panel: tabs with a note view in each."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QWidget

from app.desktop.bridge import VaultClient
from app.desktop.notes.spelling import Spelling
from app.desktop.notes.tabs import NoteTabs
from app.desktop.notes.view import NoteView
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.theme.theme import ThemeSource


def create_note_tabs(client: VaultClient, theme: ThemeSource, parent: QWidget) -> NoteTabs:
    """Create the tabs; their notes share one spell checker."""
    spelling = Spelling(client)
    tabs = NoteTabs(client, theme, partial(NoteView, spelling=spelling), parent)
    spelling.setParent(tabs)
    return tabs


def connect(panel: NoteTabs, context: PanelContext) -> None:
    """Connect the panel to the window and the other panels."""
    connect_links(panel, context)
    panel.action_requested.connect(context.run_note_command)
    panel.create_requested.connect(context.link_followed)
    panel.tool_requested.connect(lambda name: context.command_requested.emit(f"tool:{name}"))
    context.follow_notes(panel)
    context.register_state("notes", panel.state)
    panel.shown.connect(context.note_shown)
