"""The outline of the active note."""
