"""The meaning of requests: actions, sets of notes, readings, questions, and the state of a conversation."""
