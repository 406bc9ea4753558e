"""Child processes that end with the app, worker processes on demand, and supervised background tasks."""
