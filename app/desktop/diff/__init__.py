"""Showing changed bytes: characters made visible, rows laid out, and the canvas that paints them."""
