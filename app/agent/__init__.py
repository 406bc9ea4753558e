"""Agents: sessions, transcripts, the built-in planner, and models."""
