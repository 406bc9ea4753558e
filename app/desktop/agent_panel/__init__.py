"""The agent panel: conversations, tool calls as cards, where the user writes; `panel.AgentPanel`."""
