"""Servers for other programs: MCP and HTTP, which the command line uses too. Every call uses the runner."""
