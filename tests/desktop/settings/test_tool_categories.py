from __future__ import annotations

import pytest

from app.desktop.settings.tool_categories import ToolCategoryList, level_label
from app.settings import PermissionSettings, Settings
from app.toolkit.registry import AccessLevel
from app.tools import CATEGORIES


@pytest.mark.parametrize("level", list(AccessLevel))
def test_every_level_has_a_label(qtbot, level: AccessLevel) -> None:
    assert level_label(level)


def test_without_a_vault_each_category_is_shown_as_it_is_for_all(qtbot) -> None:
    settings = Settings(
        permissions=PermissionSettings(categories={"web": True, "tags": False}),
    )
    switches = ToolCategoryList(None, settings)
    qtbot.addWidget(switches)
    on = {category_id for category_id, box in switches.boxes.items() if box.isChecked()}
    assert on == {category.id for category in CATEGORIES if category.on} - {"tags"} | {"web"}
    # A category that is off explains what turning it on means.
    assert {category_id for category_id, label in switches._off_labels.items() if label.text()} == set(
        switches.boxes
    ) - on
    assert not switches.choices, "no vault is open"


def test_a_switch_emits_the_requested_state(qtbot) -> None:
    switches = ToolCategoryList(None, Settings())
    qtbot.addWidget(switches)
    with qtbot.waitSignal(switches.toggled) as toggled:
        switches.boxes["tags"].click()
    assert toggled.args == ["tags", False]
