"""Compare the interpretation of a request with the vault: what it would find and change."""
