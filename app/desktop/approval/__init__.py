"""The queue of requests that await approval, its dialog and the parts of the dialog."""
