"""Question answering from notes: ranked passages with their exact spans, or none."""
