"""Markdown of notes: parsing with spans in the text, editing, and rendering."""
