"""The form that calls a tool, and the dialog that shows its result."""
