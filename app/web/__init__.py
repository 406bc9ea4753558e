"""The web behind a guard: pages fetched and made readable, searches through a provider, evidence weighed."""
