"""How any tool works: declaration, schema, registry, runner, limits."""
