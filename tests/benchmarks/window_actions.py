"""The user actions of `window.py`, with the events that the system would send."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QTextCursor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from app.desktop.graph.canvas import Canvas
from app.desktop.notes.editor.mode import ViewMode
from app.permissions.caller import Caller
from app.toolkit.call import Call
from tests.benchmarks.extreme_notes import BUSIEST_NOTE, LONGEST_NOTE, RICHEST_NOTE
from tests.flows.pilot import Pilot

Act = Callable[[Pilot], Awaitable[None]]
NONE = Qt.KeyboardModifier.NoModifier
FRAME_S = 1 / 60
KEY_S = 0.06
WORDS = "A paragraph that is typed at an ordinary pace, with a [[link]] and a #tag. "


async def pan(pilot: Pilot) -> None:
    """Drag the background back and forth."""
    canvas = pilot.graph.view.canvas
    start = _empty_place(canvas)
    _mouse(canvas, QEvent.Type.MouseButtonPress, start)
    for frame in range(120):
        turn = frame / 120 * 2 * math.pi
        await _move(canvas, start + QPointF(220 * math.sin(2 * turn), 130 * math.sin(turn)), held=True)
    _mouse(canvas, QEvent.Type.MouseButtonRelease, start)


async def zoom(pilot: Pilot) -> None:
    """Zoom in with the wheel, and out again."""
    canvas = pilot.graph.view.canvas
    at = QPointF(canvas.width() / 2, canvas.height() / 2)
    for frame in range(120):
        _wheel(canvas, at, 60 if frame < 60 else -60)
        await asyncio.sleep(FRAME_S)
    await asyncio.sleep(0.5)
    canvas.fit()
    await asyncio.sleep(1)


async def hover(pilot: Pilot) -> None:
    """Move the pointer from node to node, including the busiest."""
    canvas = pilot.graph.view.canvas
    scene = canvas.scene
    at = canvas.camera.to_screen(scene.positions, canvas.width(), canvas.height())
    for row in (-scene.weight).argsort()[:12].tolist():
        goal = QPointF(float(at[row, 0]), float(at[row, 1]))
        for step in range(8):
            await _move(canvas, goal + QPointF(24 - 3 * step, 0))
        await asyncio.sleep(0.1)
    await _move(canvas, _empty_place(canvas))


async def drag(pilot: Pilot) -> None:
    """Drag the busiest node in a circle."""
    canvas = pilot.graph.view.canvas
    row = int(canvas.scene.weight.argmax())
    at = canvas.camera.to_screen(canvas.scene.positions[row : row + 1], canvas.width(), canvas.height())[0]
    start = QPointF(float(at[0]), float(at[1]))
    _mouse(canvas, QEvent.Type.MouseButtonPress, start)
    for frame in range(120):
        turn = frame / 120 * 2 * math.pi
        await _move(canvas, start + QPointF(60 * math.sin(turn), 60 - 60 * math.cos(turn)), held=True)
    _mouse(canvas, QEvent.Type.MouseButtonRelease, start)
    await asyncio.sleep(2)


async def open_notes(pilot: Pilot) -> None:
    """Open five notes from different parts of the vault."""
    graph = pilot.graph.view.graph()
    notes = sorted(path for path, kind in zip(graph.paths, graph.kinds, strict=True) if kind == "note")
    for path in [notes[len(notes) * part // 6] for part in range(1, 6)]:
        pilot.window.navigation.open(path, "")
        await pilot.shown(path)
        await asyncio.sleep(0.6)


async def open_unusual_notes(pilot: Pilot) -> None:
    """Open the notes with the most backlinks, the most links, and a text of 3 MB."""
    paths = set(pilot.graph.view.graph().paths)
    for path in (BUSIEST_NOTE, RICHEST_NOTE, LONGEST_NOTE):
        if path in paths:
            pilot.window.navigation.open(path, "")
            note = await pilot.shown(path)
            note.toggle_links()
            await asyncio.sleep(1.5)


async def filter_files(pilot: Pilot) -> None:
    """Type in the filter over the files, and clear it."""
    assert pilot.window.view is not None
    pilot.window.view.page.show_side("files")
    await _type(pilot.files.filter, "note gra")
    await asyncio.sleep(0.6)
    pilot.files.filter.clear()


async def go_to_note(pilot: Pilot) -> None:
    """Find a note in the palette."""
    palette = pilot.window.palette_controller
    palette.show_notes()
    await asyncio.sleep(1)
    await _type(palette._palette.field, "home")
    await asyncio.sleep(0.6)
    palette._palette.dismiss()


async def show_tags(pilot: Pilot) -> None:
    """Show the tags for the first time."""
    assert pilot.window.view is not None
    pilot.window.view.page.show_side("tags")
    await asyncio.sleep(1)


async def type_text(pilot: Pilot) -> None:
    """Write a paragraph at the end of the open note."""
    editor = pilot.note.editor
    editor.moveCursor(QTextCursor.MoveOperation.End)
    await _type(editor, WORDS)
    await asyncio.sleep(0.5)


async def search(pilot: Pilot) -> None:
    """Type queries, and clear them."""
    assert pilot.window.view is not None
    pilot.window.menu.run("show-search")
    field = pilot.search.field
    for words in ("graph note", "tag:#evergreen", "笔记"):
        field.clear()
        if words.isascii():
            await _type(field, words)
        else:
            field.setText(words)
        await asyncio.sleep(0.8)
    field.clear()
    await asyncio.sleep(0.3)


async def ask(pilot: Pilot) -> None:
    """Send the built-in agent two requests that need no approval."""
    for words in ("find notes about learning", "which notes are orphans?"):
        turns = len(pilot.finished) + 1
        field = pilot.agent.composer.field
        field.setFocus()
        await _type(field, words)
        QTest.keyClick(field, Qt.Key.Key_Return)
        await pilot.turn_over(turns)
        await asyncio.sleep(0.5)


async def approve(pilot: Pilot) -> None:
    """Request a new note, read the dialog, approve, and wait for the note in the graph."""
    turns = len(pilot.finished) + 1
    field = pilot.agent.composer.field
    field.setFocus()
    field.insertPlainText(f"create a note called Measured {time.time_ns()}")
    QTest.keyClick(field, Qt.Key.Key_Return)
    await pilot.approve()
    await pilot.turn_over(turns)
    await asyncio.sleep(1.5)


async def scroll_audit(pilot: Pilot) -> None:
    """Show the audit log and scroll through it."""
    await pilot.show_audit()
    bar = pilot.audit.table.verticalScrollBar()
    for frame in range(90):
        bar.setValue(round(bar.maximum() * (0.5 - 0.5 * math.cos(frame / 90 * 4 * math.pi))))
        await asyncio.sleep(FRAME_S)


async def switch_theme(pilot: Pilot) -> None:
    """Switch to the dark theme and back."""
    for name in ("dark", "light"):
        pilot.window.change_general(theme=name)
        await asyncio.sleep(1)


async def _focus_editor(pilot: Pilot) -> None:
    pilot.note.show_mode(ViewMode.LIVE)
    pilot.note.editor.setFocus()


async def _fill_audit_log(pilot: Pilot) -> None:
    pilot.window.view.page.show_area("agent")  # type: ignore[union-attr]
    for number in range(120):
        arguments = {"query": f"note {number}"}
        await pilot.run(lambda ws, a=arguments: ws.runner.run(Call.of("search_notes", a, Caller.user())))


_PREPARATIONS: dict[Act, Act] = {type_text: _focus_editor, scroll_audit: _fill_audit_log}

ACTIONS: tuple[tuple[str, Act], ...] = (
    ("pan the graph", pan),
    ("zoom the graph", zoom),
    ("hover over nodes", hover),
    ("drag a node", drag),
    ("open five notes", open_notes),
    ("type in a note", type_text),
    ("filter the files", filter_files),
    ("go to a note in the palette", go_to_note),
    ("show the tags", show_tags),
    ("search while typing", search),
    ("ask the built-in agent", ask),
    ("approve a new note", approve),
    ("scroll the audit log", scroll_audit),
    ("switch the theme twice", switch_theme),
    ("open notes of unusual size", open_unusual_notes),
)


async def prepare(act: Act, pilot: Pilot) -> None:
    """Prepare `act`, outside its measurement."""
    if act in _PREPARATIONS:
        await _PREPARATIONS[act](pilot)


async def _type(field: QWidget, words: str) -> None:
    for letter in words:
        QTest.keyClicks(field, letter)
        await asyncio.sleep(KEY_S)
    assert not isinstance(field, QPlainTextEdit) or words.strip()[-4:] in field.toPlainText()


async def _move(canvas: Canvas, place: QPointF, *, held: bool = False) -> None:
    _mouse(canvas, QEvent.Type.MouseMove, place, held=held)
    await asyncio.sleep(FRAME_S)


def _mouse(canvas: Canvas, kind: QEvent.Type, place: QPointF, *, held: bool = False) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    button = none if kind == QEvent.Type.MouseMove else left
    buttons = left if held or kind == QEvent.Type.MouseButtonPress else none
    event = QMouseEvent(kind, place, canvas.mapToGlobal(place), button, buttons, NONE)
    QApplication.sendEvent(canvas, event)


def _wheel(canvas: Canvas, at: QPointF, amount: int) -> None:
    buttons, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    angle_delta = QPoint(0, amount)
    event = QWheelEvent(at, canvas.mapToGlobal(at), QPoint(), angle_delta, buttons, NONE, phase, False)
    QApplication.sendEvent(canvas, event)


def _empty_place(canvas: Canvas) -> QPointF:
    """Return a point without a node under it."""
    width, height = canvas.width(), canvas.height()
    for across in range(20, width, 15):
        for down in range(120, height - 80, 15):
            if canvas.scene.node_at(across, down, canvas.camera, width, height) < 0:
                return QPointF(across, down)
    return QPointF(2, 2)
