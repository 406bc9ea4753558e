"""A note in a tab: reading and source view, properties, links; `view.NoteView` is the widget."""
