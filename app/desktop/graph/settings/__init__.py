"""The settings of the graph view."""
