"""Sentence embeddings in a process of their own."""
