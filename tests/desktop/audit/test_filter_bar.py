from __future__ import annotations

from app.desktop.audit.filter_bar import FilterBar
from app.desktop.theme.theme import ThemeSource


def test_a_wide_bar_shows_its_choices_in_full_and_a_narrow_one_still_fits(qtbot) -> None:
    bar = FilterBar(ThemeSource("light"))
    qtbot.addWidget(bar)
    bar.resize(1200, 40)
    bar.show()
    boxes = (bar.caller, bar.tool, bar.decision, bar.dates)
    assert all(box.width() >= box.sizeHint().width() for box in boxes)
    assert bar.minimumSizeHint().width() <= 560


def test_choosing_a_value_keeps_the_delay(qtbot) -> None:
    bar = FilterBar(ThemeSource("light"))
    qtbot.addWidget(bar)
    delay = bar._timer.interval()
    for box in (bar.decision, bar.dates):
        box.setCurrentIndex(2)
        assert bar._timer.isActive() and bar._timer.interval() == delay


def test_each_box_is_as_wide_as_its_choice_however_long_the_others_are(qtbot) -> None:
    bar = FilterBar(ThemeSource("light"))
    qtbot.addWidget(bar)
    bar.resize(760, 40)
    bar.show()
    for name in ("A program with a very long name", "Claude"):
        bar.choose_caller(name)
    bar.clear()
    boxes = (bar.caller, bar.tool, bar.decision, bar.dates)
    bar.layout().activate()
    assert all(box.width() >= box.sizeHint().width() for box in boxes)
    narrow = bar.caller.sizeHint().width()
    bar.choose_caller("A program with a very long name")
    assert bar.caller.sizeHint().width() > narrow
    bar.caller.clear()
    assert bar.caller.sizeHint().isValid()
