"""Supervision of background work: starting, reporting failures and restarting."""
