"""dmgbuild -s packaging/desktop/macos/dmg_settings.py -D app=dist/Scriptorium.app Scriptorium out.dmg."""

application = defines["app"]  # noqa: F821 (defined by dmgbuild)
files = [application]
symlinks = {"Applications": "/Applications"}
format = "ULFO"
window_rect = ((200, 200), (560, 340))
icon_size = 96
icon_locations = {"Scriptorium.app": (140, 150), "Applications": (420, 150)}
