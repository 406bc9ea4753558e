"""The command line front end."""

VERBS = ("audit", "index", "tools")
"""The first words that mean a verb and not a folder to open; kept here, where reading them loads nothing."""
