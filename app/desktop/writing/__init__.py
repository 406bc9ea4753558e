"""Around the editor: outline, tasks, bookmarks, commands of writing, export and print."""
