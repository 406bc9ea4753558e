"""Notes in the window: the live editor and what belongs to it."""
