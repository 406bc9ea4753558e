"""Bookmarks: the user's own and those of Obsidian."""
