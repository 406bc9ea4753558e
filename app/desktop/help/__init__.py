"""The handbook: its pages, the view that shows them, and the dialog for a window without a vault."""
