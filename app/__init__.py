"""Scriptorium: a vault of Markdown notes, its graph, and an agent whose every change is a proposal."""

__version__ = "0.1.0"
