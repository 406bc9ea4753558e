"""Sources outside the vault: folders whose files agents work on, and streams of notifications."""
