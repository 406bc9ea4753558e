"""Agents: sessions, transcripts, the built-in agent, model agents and external programs."""
