"""The parts of the approval dialog: the choices so far, the words, and the pieces of the window."""
