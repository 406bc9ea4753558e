"""The agents' memory in the window: its blocks, its archive, and the history of each block."""
