"""The memory panel: blocks, archive entries and their history."""
