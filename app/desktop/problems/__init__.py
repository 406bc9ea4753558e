"""The panel of files that are not wholly in the index."""
