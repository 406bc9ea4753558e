"""Servers for other programs: MCP, HTTP, and over them the command line. Every call uses the runner."""
