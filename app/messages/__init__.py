"""Outgoing messages: the channels, their limits, and sending."""
