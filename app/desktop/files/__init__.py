"""The panel of the vault's files."""
