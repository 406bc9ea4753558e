"""The user's own bookmarks and those of Obsidian."""
