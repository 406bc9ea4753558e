"""Support for the GUI thread: tasks, garbage collection, time slices, translation, stall detection."""
