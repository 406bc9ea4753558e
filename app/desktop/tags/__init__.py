"""The panel of the vault's tags."""
