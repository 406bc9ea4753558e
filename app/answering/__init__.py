"""Answers to questions out of the notes: passages with their exact spans, ranked, or none at all."""
