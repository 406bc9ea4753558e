"""Requests about tasks: lists, new tasks and changes."""
