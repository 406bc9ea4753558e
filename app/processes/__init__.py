"""Background work: tasks that are supervised and restarted, and child processes that end with the app."""
