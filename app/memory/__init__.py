"""What agents remember: blocks that are edited, and an archive of entries that are not."""
