"""Files that the app keeps outside the vault: SQLite databases and small files written atomically.

Each is private to the user, checked when it is opened, and set aside under a dated name when it can't be
used. The code that owns a file says what it holds and what the user loses with it.
"""
