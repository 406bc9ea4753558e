"""The activity feed: what happens in the vault, as it happens, newest first."""
