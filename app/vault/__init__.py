"""The notes on disk: the truth. Everything else is derived from them."""
