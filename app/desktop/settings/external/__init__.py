"""The settings page of external MCP servers."""
