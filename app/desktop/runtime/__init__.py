"""Support for the GUI thread: tasks, garbage collection, sliced work, stall detection."""
