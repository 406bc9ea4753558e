"""The red banner that names an unreadable file of rules."""

from __future__ import annotations

from app.desktop.shell.banners import Banners
from app.desktop.theme.theme import ThemeSource


def test_a_message_of_danger_is_not_pushed_out_by_others(qtbot):
    banners = Banners(ThemeSource("light"))
    qtbot.addWidget(banners)
    banners.show_message("rules", "can't be read", "danger")
    for number in range(100):
        banners.show_message(str(number), "…", "warning")
    assert banners.keys[0] == "rules"
    assert len(banners.keys) == 51, "a flood has a limit"
