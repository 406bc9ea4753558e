"""The sources panel."""
