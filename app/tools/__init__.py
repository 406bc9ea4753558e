"""Which tools exist: a file per category; CATALOG lists them."""
