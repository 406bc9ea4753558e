"""The agents' memory: editable blocks, and an archive of immutable entries."""
