"""Parts of the Sources panel."""
