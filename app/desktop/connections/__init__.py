"""The connection page: programs outside that may use the vault's tools."""
