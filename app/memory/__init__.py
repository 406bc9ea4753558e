"""Memory of agents: editable blocks, and an archive of immutable entries."""
