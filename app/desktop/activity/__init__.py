"""The activity feed: live events of the vault, newest first."""
