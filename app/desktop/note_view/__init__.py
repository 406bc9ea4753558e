"""A note in a tab: reading and source view, properties, links, history."""

from app.desktop.note_view.view import NoteView

__all__ = ["NoteView"]
