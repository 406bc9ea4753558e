"""Network analysis of a vault: pure functions over arrays, and the worker process that runs them."""
