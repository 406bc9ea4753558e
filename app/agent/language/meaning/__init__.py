"""What a request can mean: actions, sets of notes, readings, questions, and the state of the conversation."""
