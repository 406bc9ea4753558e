"""The main window's frame: layout, commands, palette, panels, banners and status bar."""
