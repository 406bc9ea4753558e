"""Controls and marks that float over the graph."""
