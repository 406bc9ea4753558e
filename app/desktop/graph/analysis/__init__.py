"""Analyses of the graph, their results and how they are listed."""
