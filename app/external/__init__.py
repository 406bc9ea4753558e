"""External tools: Model Context Protocol servers that the user added."""
