"""Runs programs: with no shell, bounded in time and output, and shut off from the rest where that can be."""
