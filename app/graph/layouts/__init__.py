"""Graph layouts."""
