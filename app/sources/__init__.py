"""What comes from beside the vault: folders whose files agents may work on, and streams that tell of news."""
