"""The index of a vault: derived, in SQLite, and deletable at any time."""
