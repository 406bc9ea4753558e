"""The search panel, the query field and saved searches."""
