"""The agent panel: conversations with the agent, its tool calls as cards, and where the user writes."""

from app.desktop.agent_panel.panel import AgentPanel

__all__ = ["AgentPanel"]
