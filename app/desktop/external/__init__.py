"""External servers in the settings: their list, their form, and what is to be looked at before a yes."""
