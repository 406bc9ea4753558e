"""Requests that list or describe notes, beyond what the grammar parses."""
