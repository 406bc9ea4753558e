"""Notes in the window: tabs, views, the live editor and the commands on notes."""
