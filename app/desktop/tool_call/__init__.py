"""Calling any tool by hand: a form made from its schema, and its result in words."""
