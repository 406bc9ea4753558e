"""The panel of the vault's tasks."""
