"""The settings of the disk image, for `dmgbuild -s dmg_settings.py -D app=FOLDER Scriptorium FILE.dmg`."""

application = defines["app"]  # noqa: F821 (defined by dmgbuild)
files = [application]
symlinks = {"Applications": "/Applications"}
format = "ULFO"
window_rect = ((200, 200), (560, 340))
icon_size = 96
icon_locations = {"Scriptorium.app": (140, 150), "Applications": (420, 150)}
