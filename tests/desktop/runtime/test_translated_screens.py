"""Screens in an invented language: every Latin letter on them is a text that can't be translated.

The names of notes, callers and tools in these tests have no Latin letters, except for those in `_DATA`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, Qt, QTranslator
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QComboBox, QLabel, QLineEdit, QWidget

from app.desktop.activity.item import started_item, waiting_item
from app.desktop.approval.batch_page import BatchPage
from app.desktop.approval.decision_bar import DecisionBar
from app.desktop.approval.queue_strip import QueueStrip
from app.desktop.approval.queued_request import QueuedRequest
from app.desktop.approval.review_page import ReviewPage
from app.desktop.audit.detail_pane import DetailPane
from app.desktop.connections.configuration_view import ConfigurationView
from app.desktop.connections.configurations import TARGETS, ConnectionDetails
from app.desktop.help.pages import help_pages
from app.desktop.help.view import HandbookView
from app.desktop.runtime.translation import translate_text
from app.desktop.search.query_explanation import QueryExplanationView
from app.desktop.settings.dialog import SettingsDialog
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import time_labels
from app.desktop.widgets.diff.hex_dump import hex_dump
from app.desktop.widgets.model_form import ModelRows
from app.desktop.widgets.text_editor import MAX_TEXT_BYTES, TextEditor
from app.index.explanation import explain_query
from app.index.query import parse
from app.permissions.approval import ApprovalRequest
from app.permissions.audit_entry import AuditEntry
from app.permissions.caller import Caller, CallerKind
from app.permissions.impact import impact_of_changes
from app.permissions.partial_approval import ApprovalDraft
from app.permissions.request_labels import format_size
from app.settings import Rule, Settings
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Move, Update
from app.vault.editable_text import NotEditableError
from app.vault.path import NotePath
from tests.support.settings_rows import visible_settings

_TO_GREEK = str.maketrans(string.ascii_letters, "αβψδεφγηιξκλμνοπϙρστθωϝχυζ" * 2)
_DATA = re.compile(r"edit_note|\.md|\.png|<[^>]*>|&nbsp;|U\+[0-9A-F]{4}")
_LATIN = re.compile("[A-Za-z]")


class _Greek(QTranslator):
    """Replaces the letters of a text, except for its placeholders, which have none."""

    def translate(self, context: str, text: str, comment: str | None = None, number: int = -1) -> str:
        return (comment if comment and number not in (-1, 1) else text).translate(_TO_GREEK)


@pytest.fixture
def greek(qapp) -> Iterator[None]:
    translator = _Greek()
    assert QCoreApplication.installTranslator(translator)
    yield
    QCoreApplication.removeTranslator(translator)


pytestmark = pytest.mark.usefixtures("greek")


def _texts(screen: QWidget) -> Iterator[str]:
    """Yield the texts on a screen and its tool tips, except what the user types or chooses as a value."""
    for widget in [screen, *screen.findChildren(QWidget)]:
        yield from (widget.windowTitle(), widget.toolTip())
        yield from (widget.accessibleName(), widget.accessibleDescription())
        match widget:
            case QLabel() | QAbstractButton():
                yield widget.text()
            case QLineEdit():
                yield widget.placeholderText()
            case QComboBox() if not widget.isEditable():
                yield from (widget.itemText(index) for index in range(widget.count()))
            case QAbstractItemView() if not widget.window().inherits("QComboBoxPrivateContainer"):
                model = widget.model()
                for row in range(model.rowCount() if model is not None else 0):
                    for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
                        yield str(model.index(row, 0).data(role) or "")
    yield from (action.text() for action in screen.findChildren(QAction))


def _untranslated(texts: Iterator[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if _LATIN.search(_DATA.sub("", text))]


_KEY = NotePath("Ключ.md")
_BEFORE = b"\xd0\xb0\n" * 5
_CREATE = Create(NotePath("Лес.md"), b"1\n")
_UPDATE = Update(_KEY, _BEFORE, b"2\n")
_MOVE = Move(_KEY, NotePath("Сад.md"), _BEFORE, _BEFORE)
_DELETE = Delete(NotePath("Дом.png"), _BEFORE)
_CHANGES = [
    (_CREATE,),
    (_UPDATE,),
    (_MOVE,),
    (_DELETE,),
    (_UPDATE, _CREATE),
    (
        _CREATE,
        _UPDATE,
        Delete(NotePath("Дом.md"), _BEFORE),
        Move(NotePath("Э.md"), NotePath("Ю.md"), b"", b""),
    ),
    (_UPDATE, _DELETE),
]


def _request(*changes: FileChange, kind: CallerKind = CallerKind.MCP, place: str = "") -> ApprovalRequest:
    proposal = ChangeSet.of(*changes)
    impact = impact_of_changes(proposal, lambda _: (_KEY,), place)
    caller = Caller(kind, "Клод", says="Клод 2", tainted=True, claim="Ну")
    return ApprovalRequest("1", caller, "edit_note", (), impact.operation, impact.scope, proposal, "")


@pytest.mark.parametrize("changes", _CHANGES)
@pytest.mark.parametrize("kind", [CallerKind.USER, CallerKind.MCP])
def test_approval(qtbot, changes: tuple[FileChange, ...], kind: CallerKind) -> None:
    theme = ThemeSource("light")
    request = _request(*changes, kind=kind, place="Архив")
    drafts = [ApprovalDraft(request), ApprovalDraft(_request(_UPDATE))]
    page, bar, strip = ReviewPage(drafts[0], theme), DecisionBar(), QueueStrip(theme.theme)
    batch = BatchPage(drafts, theme.theme)
    for widget in (page, bar, strip, batch):
        qtbot.addWidget(widget)
    page.fill()
    page.show_first()
    page.header.details.expand_button.click()
    bar.show_request(request)
    strip.show_queue([QueuedRequest(None, draft, 0.0) for draft in drafts], 0)  # type: ignore[arg-type]
    for seconds in (7.0, 90_000.0):
        bar.show_time(seconds)
        assert _untranslated(_texts(bar)) == []
    for widget in (page, strip, batch):
        assert _untranslated(_texts(widget)) == []
    item = waiting_item(started_item("1", "edit_note", request.caller, 0.0), request)
    assert _untranslated(iter([item.summary])) == []


@pytest.mark.parametrize("content", [b"\xff\n", b"1\r2\n", b"1\x00\n", "1\u2028\n".encode()])
def test_text_that_cannot_be_edited(qtbot, content: bytes) -> None:
    page = ReviewPage(ApprovalDraft(_request(Create(_KEY, content))), ThemeSource("light"))
    qtbot.addWidget(page)
    page.fill()
    page.show_first()
    page.set_editing(True)
    assert page.problem
    assert _untranslated(iter([page.read_only_reason(), page.problem])) == []


def test_text_that_is_too_large_to_edit(qtbot) -> None:
    editor = TextEditor("", 1.0)
    qtbot.addWidget(editor)
    with pytest.raises(NotEditableError) as caught:
        editor.load(b"1" * (MAX_TEXT_BYTES + 1))
    assert _untranslated(iter([translate_text(caught.value.reason)])) == []


@pytest.mark.parametrize("kind", CallerKind)
@pytest.mark.parametrize("operation", ["update", "execute", "network"])
def test_audit(qtbot, kind: CallerKind, operation: str) -> None:
    pane = DetailPane(ThemeSource("light"))
    qtbot.addWidget(pane)
    entry = AuditEntry(0.0, kind, "Клод", "", operation, "", "{}", "user-approved", "", "", id=1)
    pane.show_entry(entry)
    assert _untranslated(_texts(pane)) == []


def test_settings(qtbot) -> None:
    dialog = SettingsDialog(Settings(), ThemeSource("light"))
    qtbot.addWidget(dialog)
    assert visible_settings(dialog)
    dialog.findChildren(ModelRows)[0].append(Rule(effect="ask"))
    assert _untranslated(_texts(dialog)) == []


def test_headings_of_the_help(qtbot) -> None:
    pages = help_pages(ToolRegistry(CATEGORIES, CATALOG))
    view = HandbookView(ThemeSource("light"), can_run=False)
    qtbot.addWidget(view)
    view.set_pages(pages)
    items = [view.list.item(row) for row in range(view.list.count())]
    headings = [item.text() for item in items if item.flags() == Qt.ItemFlag.NoItemFlags]
    assert len(headings) > len(CATEGORIES)
    assert _untranslated(iter(headings)) == []


def test_destinations_of_configurations(qtbot) -> None:
    view = ConfigurationView(ThemeSource("light"))
    qtbot.addWidget(view)
    titles = [view.target.itemText(index) for index in range(view.target.count())]
    assert _untranslated(iter([titles[-1], titles[-2]])) == []
    details = ConnectionDetails(Path("/v"), "x", ("s",), "")
    places = [target.build(details, each).destination for target in TARGETS for each in target.transports]
    files = ("~", ".mcp.json", "%APPDATA%")
    texts = [place for place in places if not place.startswith(files)]
    assert len(texts) == 6
    assert _untranslated(iter(texts)) == []


@pytest.mark.parametrize(
    "query",
    [
        "1 OR 2",
        '"1 2" -(3 /4/)',
        "file:1 path:1 content:1 tag:1 line:1 block:1 section:1 task:1 task-todo:1 task-done:1 match-case:1",
        "ignore-case:1 type:1 rel:1 backlinks:1 links-to:1 linked-from:1",
        "file:(1 2) path:(1 2) content:(1 2) tag:(1 2) line:(1 2) block:(1 2) section:(1 2) task:(1 2)",
        "task-todo:(1 2) task-done:(1 2) match-case:(1 2) ignore-case:(1 2) type:(1 2) rel:(1 2)",
        "backlinks:(1 2) links-to:(1 2) linked-from:(1 2) -line:1",
        "task-todo: OR task-done: OR backlinks: OR task: OR orphan: OR unresolved: OR untagged:",
        "[1] [1:null] [1:<5] [1:2 OR 3] [1:-2] modified:2024 created:2024 similar:1",
    ],
)
def test_explanation_of_a_search(qtbot, query: str) -> None:
    view = QueryExplanationView(ThemeSource("light"))
    qtbot.addWidget(view)
    node = parse(query)
    assert node is not None
    view.show_part(explain_query(node))
    tip = view.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert _untranslated(iter([*_texts(view), tip])) == []


def test_rest_of_a_large_binary_file() -> None:
    last = hex_dump(bytes(1_048_576 + 7)).decode().splitlines()[-1]
    assert _untranslated(iter([re.sub("[0-9a-f]{64}", "", last)])) == []


def test_sizes_times_and_durations() -> None:
    texts = [
        *(translate_text(format_size(size)) for size in (1, 2, 2_000, 2_000_000, 2_000_000_000)),
        *(time_labels.time_ago(0.0, now=seconds) for seconds in (1, 100, 7300, 90_000, 1e7)),
        *(time_labels.time_left(seconds) for seconds in (1, 8000)),
        *(time_labels.duration_label(milliseconds) for milliseconds in (1, 8000)),
    ]
    assert _untranslated(iter(texts)) == []
