"""Reasons to ask before a reading runs, and what the user may mean instead."""
