"""Parts of the panel of relations that may be missing."""
