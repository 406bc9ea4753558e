"""Markdown text: reading facts with their spans, editing spans, rendering."""
