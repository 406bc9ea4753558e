"""A vault's index: derived, in SQLite, and deletable at any time."""
