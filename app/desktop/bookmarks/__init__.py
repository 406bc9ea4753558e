"""The user's own bookmarks and Obsidian's."""
