"""The audit panel."""
