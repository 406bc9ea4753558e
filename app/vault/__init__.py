"""The files of a vault: safe reads and writes, the journal of commits, and Markdown."""
