"""Files that the app keeps outside the vault: SQLite databases and small files written atomically.

The databases and the `DurableFile`s are checked when they are opened. One that can't be used is set aside
under a dated name, or deleted if its content can be computed again. The owner of a file describes its content
and the consequence of losing it.
"""
