from __future__ import annotations

from PySide6.QtWidgets import QToolButton

from app.desktop.shell.banners import Banner, Banners
from app.desktop.theme.theme import ThemeSource


def shown(banners: Banners) -> list[str]:
    return [
        banner.accessibleName()
        for banner in banners.findChildren(Banner)
        if banner.isVisible() and banners.isVisible()
    ]


def dismiss(banners: Banners, text: str) -> None:
    (banner,) = (one for one in banners.findChildren(Banner) if one.accessibleName() == text)
    banner.findChild(QToolButton).click()


def test_a_message_without_room_waits_and_none_is_dropped(qtbot) -> None:
    banners = Banners(ThemeSource("light"))
    qtbot.addWidget(banners)
    banners.show()
    banners.show_message("rules", "rules", "danger")
    for number in range(1, 6):
        banners.show_message(str(number), f"message {number}", "warning")
    assert shown(banners) == ["rules", "message 3", "message 4", "message 5"]
    dismiss(banners, "message 5")
    assert shown(banners) == ["rules", "message 2", "message 3", "message 4"]
    banners.clear("rules")
    assert shown(banners) == ["message 1", "message 2", "message 3", "message 4"]
    for number in (1, 2, 3, 4):
        dismiss(banners, f"message {number}")
    assert shown(banners) == [] and banners.keys == ()
