"""The settings page for external MCP servers."""
