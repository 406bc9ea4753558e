"""The agent panel: conversations, tool cards, and the choice of who answers."""
