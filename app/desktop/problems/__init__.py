"""The panel of files that are not fully indexed."""
