"""The tool categories in the settings: their access, and whether each is on by default and in this vault."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.runtime.time_sliced_queue import TimeSlicedQueue
from app.desktop.runtime.translation import PluralText, translate
from app.desktop.tool_form.labels import category_label
from app.desktop.widgets.plain_labels import wrapped_label
from app.settings import Settings
from app.toolkit.registry import AccessLevel, Category
from app.toolkit.tool import Tool
from app.tools import CATALOG, CATEGORIES

if TYPE_CHECKING:
    from app.workspace import VaultService

DEFAULT_ON = frozenset(category.id for category in CATEGORIES if category.on)
"""The categories that are enabled by default."""
_USE_DEFAULT, _ON, _OFF = "all", "on", "off"
_STATES = {None: _USE_DEFAULT, True: _ON, False: _OFF}


@dataclass(frozen=True, slots=True)
class _CategoryFacts:
    """A category's default, its number of tools, and its state in the open vault."""

    category: Category
    tools: int
    vault_state: str


class ToolCategoryList(QWidget):
    """A card for each category; `toggled` carries an id and whether to enable it for all vaults."""

    toggled = Signal(str, bool)

    def __init__(self, client: VaultClient | None, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._settings = settings
        self.boxes: dict[str, QCheckBox] = {}
        self.choices: dict[str, QComboBox] = {}
        self._off_labels: dict[str, QLabel] = {}
        self._facts: dict[str, _CategoryFacts] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        keywords = self.tr("categories on off switch this vault calls a minute {0}")
        names = " ".join(category_label(category.name) for category in CATEGORIES)
        self.setProperty("searchKeywords", keywords.format(names))
        heading = QLabel(self.tr("Categories"))
        heading.setProperty("textSize", "strong")
        self._column.addWidget(heading)
        if client is None:
            for category in CATEGORIES:
                self._add(_create_facts(category, CATALOG, ""))
        else:
            self._cards = TimeSlicedQueue(self._add, self)
            tasks.start(self._load(client), owner=self, action=self.tr("list the categories"))

    def show_settings(self, settings: Settings) -> None:
        """Show which categories these settings enable."""
        self._settings = settings
        for category_id in self.boxes:
            self._show(category_id)

    async def _load(self, client: VaultClient) -> None:
        self._cards.add_later(await client.run(_load_facts))

    def _add(self, fact: object) -> None:
        assert isinstance(fact, _CategoryFacts)
        self._facts[fact.category.id] = fact
        self._column.addWidget(self._create_card(fact))
        self._show(fact.category.id)

    def _show(self, category_id: str) -> None:
        box = self.boxes[category_id]
        box.blockSignals(True)
        box.setChecked(self._is_on(category_id))
        box.blockSignals(False)
        self._show_state(category_id)

    def _create_card(self, fact: _CategoryFacts) -> QWidget:
        category = fact.category
        name = category_label(category.name)
        card = QFrame(self)
        card.setObjectName("card")
        row = QHBoxLayout(card)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(16)
        text_column = QVBoxLayout()
        text_column.setSpacing(2)
        name_label = QLabel(name)
        name_label.setProperty("textSize", "strong")
        tools = PluralText("ToolCategoryList", "{0} tool", "{0} tools").format(fact.tools)
        details = f"{tools} · {level_label(category.level)} · {_rate_label(category)}"
        details_label = wrapped_label(details, "muted")
        off_label = self._off_labels[category.id] = wrapped_label(tone="muted")
        for label in (name_label, details_label, off_label):
            text_column.addWidget(label)
        box = self.boxes[category.id] = QCheckBox(self.tr("On"))
        box.setAccessibleName(self.tr("{0} in all vaults").format(name))
        box.setToolTip(self.tr("Default for all vaults"))
        box.toggled.connect(lambda on: self.toggled.emit(category.id, on))
        row.addLayout(text_column, 1)
        row.addWidget(box, 0, Qt.AlignmentFlag.AlignTop)
        if fact.vault_state:
            row.addWidget(self._create_choice_box(fact), 0, Qt.AlignmentFlag.AlignTop)
        return card

    def _create_choice_box(self, fact: _CategoryFacts) -> QComboBox:
        choice = self.choices[fact.category.id] = QComboBox()
        choice.addItem(self.tr("This vault: default"), _USE_DEFAULT)
        choice.addItem(self.tr("This vault: on"), _ON)
        choice.addItem(self.tr("This vault: off"), _OFF)
        choice.setCurrentIndex(choice.findData(fact.vault_state))
        choice.setAccessibleName(self.tr("{0} in this vault").format(category_label(fact.category.name)))
        choice.setToolTip(self.tr("In this vault"))
        choice.currentIndexChanged.connect(lambda _: self._change_for_vault(fact.category.id))
        return choice

    def _change_for_vault(self, category_id: str) -> None:
        state = str(self.choices[category_id].currentData())
        if self._client is not None:
            change = self._client.run(partial(_change_for_vault, category_id, state))
            tasks.start(change, owner=self, action=self.tr("change the category"))
        self._show_state(category_id)

    def _is_on(self, category_id: str) -> bool:
        """Return whether the category is enabled by default, in all vaults."""
        return self._settings.permissions.categories.get(category_id, self._facts[category_id].category.on)

    def _show_state(self, category_id: str) -> None:
        """Explain a category that is off in the open vault."""
        is_default_on = self._is_on(category_id)
        vault_state = self.choices[category_id].currentData() if category_id in self.choices else _USE_DEFAULT
        is_denied = category_id in self._settings.permissions.categories_off
        is_on = not is_denied and (vault_state == _ON or (is_default_on and vault_state != _OFF))
        label = self._off_labels[category_id]
        label.setText(
            ""
            if is_on
            else self._off_label(self._facts[category_id], denied=is_denied and vault_state == _ON)
        )
        label.setVisible(not is_on)

    def _off_label(self, fact: _CategoryFacts, *, denied: bool) -> str:
        if denied:
            return self.tr("Stays off here because it is off for all vaults.")
        meaning = {
            AccessLevel.READ_ONLY: self.tr(
                "Off. When on, agents can use these tools to read but not to change anything."
            ),
            AccessLevel.READ_WRITE: self.tr(
                "Off. When on, agents can use these tools to read and to propose changes, which you "
                "approve or deny."
            ),
            AccessLevel.NETWORK: self.tr(
                "Off. When on, agents can search and read the web: requests leave this computer, and "
                "results are marked as untrusted text."
            ),
            AccessLevel.EXECUTE: self.tr(
                "Off. When on, agents can propose running programs or external tools. You see the exact call "
                "each time."
            ),
        }
        return meaning[fact.category.level]


def level_label(level: AccessLevel) -> str:
    """Return the access that a level grants."""
    return {
        AccessLevel.READ_ONLY: translate("ToolCategoryList", "read-only"),
        AccessLevel.READ_WRITE: translate("ToolCategoryList", "read and propose changes"),
        AccessLevel.EXECUTE: translate("ToolCategoryList", "run programs or external tools"),
        AccessLevel.NETWORK: translate("ToolCategoryList", "read, including from the network"),
    }[level]


def _rate_label(category: Category) -> str:
    return PluralText(
        "ToolCategoryList",
        "at most {0} call per minute per caller",
        "at most {0} calls per minute per caller",
    ).format(category.rate_per_minute)


def _load_facts(vault: VaultService) -> tuple[_CategoryFacts, ...]:
    vault_settings = vault.settings.of_vault
    facts = []
    for category in vault.tools.categories:
        state = _STATES[vault_settings.categories.get(category.id)]
        # An external server's category is registered as off, but on by default once its tools are allowed.
        is_default_on = category.id in DEFAULT_ON | vault.external.categories_on
        with_default = replace(category, on=is_default_on)
        facts.append(_create_facts(with_default, vault.tools.all_tools(), state))
    return tuple(facts)


def _create_facts(category: Category, tools: tuple[Tool, ...], vault_state: str) -> _CategoryFacts:
    count = sum(tool.category == category.id for tool in tools)
    return _CategoryFacts(category, count, vault_state)


def _change_for_vault(category_id: str, state: str, vault: VaultService) -> None:
    enabled = next(value for value, value_state in _STATES.items() if value_state == state)
    vault.settings.change_vault(vault.settings.of_vault.with_categories(enabled, category_id))
