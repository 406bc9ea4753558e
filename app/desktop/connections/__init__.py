"""The connection page: external programs that may use the vault's tools."""
