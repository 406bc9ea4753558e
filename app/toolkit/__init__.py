"""The framework of all tools: declaration, schema, registry, runner, limits."""
