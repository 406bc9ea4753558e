"""The layouts of a graph."""
