"""General-purpose widgets, independent of notes."""
