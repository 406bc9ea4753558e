"""Background work: started, watched, reported when it fails, and started again."""
