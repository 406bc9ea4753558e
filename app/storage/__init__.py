"""Files that the app keeps outside the vault: SQLite databases and small files written atomically.

Each file is private to the user, checked when it is opened, and set aside under a dated name if it can't be
used. The owner of a file describes its contents and the consequence of losing it.
"""
