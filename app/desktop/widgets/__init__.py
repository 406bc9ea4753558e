"""General-purpose widgets."""
