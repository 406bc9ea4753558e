"""Controls and indicators over the graph."""
