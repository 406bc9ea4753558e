from __future__ import annotations

from PySide6.QtTest import QTest

from app.desktop.graph.settings.group_rows import GroupRows
from app.desktop.graph.settings.model import QueryGroup
from app.desktop.theme.colors import LIGHT


def test_a_change_elsewhere_keeps_a_query_that_is_being_typed(qtbot) -> None:
    rows = GroupRows(LIGHT)
    qtbot.addWidget(rows)
    rows.show()
    rows.add_button.click()
    (row,) = rows._rows
    QTest.keyClicks(row.query.field, "tag:pro")
    rows.show_groups(())
    assert rows._rows == [row] and row.query.text == "tag:pro"


def test_other_groups_replace_the_rows(qtbot) -> None:
    rows = GroupRows(LIGHT)
    qtbot.addWidget(rows)
    rows.show_groups([QueryGroup(query="tag:a"), QueryGroup(query="tag:b")])
    rows.show_groups([QueryGroup(query="tag:c")])
    assert [group.query for group in rows.groups] == ["tag:c"]
    rows.show_groups(())
    assert rows.groups == ()
