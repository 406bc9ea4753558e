"""The framework for tools: their declaration, schemas, registry, runner and limits."""
