"""Run a reading of a request: each step calls tools, and the next step works on its notes."""
