"""Parse the words of a request as actions on sets of notes, with their values."""
