"""The help pages and their dialog."""
