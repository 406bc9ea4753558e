"""The ways in from outside: MCP, HTTP and, by them, the command line; every call goes through the runner."""
