"""How the GUI thread runs: tasks, garbage collection, sliced work, stall detection."""
