"""The trained request model: programs, candidates and probabilities."""
