"""The approval dialog: the queue of requests, their draft decisions and the parts of the window."""
