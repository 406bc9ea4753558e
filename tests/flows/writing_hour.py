"""Scripted writing in the real window: the actions of an hour, and invariants after it.

Each action leaves a unique word in the note that it changes. At the end, every word is in its note exactly
once and in no other, whatever was renamed, pasted, merged or changed externally meanwhile.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QImage, QTextCursor
from PySide6.QtTest import QTest

from app.desktop.notes.view import NoteView
from app.permissions.approval import Approved
from app.permissions.caller import Caller
from app.toolkit.call import Call
from tests.flows.pilot import Pilot

USER = Caller.user()
_WORD = re.compile(r"\b[a-z]+x\d{5}\b")
_ENDS = {0: "\n", 1: "\r\n"}


@dataclass(frozen=True)
class Hour:
    """The number of actions of each kind."""

    edits: int
    new_notes: int
    renames: int
    pastes: int
    switches: int
    outside: int

    def actions(self, seed: int) -> list[str]:
        """Return the actions in the order of a seed."""
        wanted = {
            "edit": self.edits,
            "new": self.new_notes,
            "rename": self.renames,
            "paste": self.pastes,
            "switch": self.switches,
            "outside": self.outside,
        }
        found = [name for name, count in wanted.items() for _ in range(count)]
        random.Random(seed).shuffle(found)
        return found


@dataclass
class Writer:
    """Drives one window and knows each note's expected content; `key_ms` has the time of each key."""

    pilot: Pilot
    root: Path
    seed: int
    words: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    paths: dict[str, str] = field(default_factory=dict)  # The key of a note → its current path.
    messages: list[str] = field(default_factory=list)
    key_ms: list[float] = field(default_factory=list)
    attachments: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._number = 0
        self._watched: set[NoteView] = set()

    async def run(self, hour: Hour) -> None:
        """Perform all actions, then wait until everything is saved."""
        for _ in range(4):
            await self._open(self._random.choice(sorted(self.paths)))
        for action in hour.actions(self.seed):
            await getattr(self, f"_{action}")()
        for note in self.pilot.notes:
            await self._at_rest(note)

    def check(self) -> None:
        """Check that nothing is lost or duplicated, no other byte has changed, and no wrong message was
        shown.
        """
        assert not self.messages, self.messages
        assert not self.pilot.banners and not self.pilot.sheets
        found: dict[str, str] = {}
        for key, path in self.paths.items():
            content = (self.root / path).read_bytes().decode()
            found[key] = content
            assert Counter(_WORD.findall(content)) == Counter(self.words[key]), path
            ends = set(re.findall("\r\n|\n|\r", content))
            number = int(key.removeprefix("old")) if key.startswith("old") else 1
            assert ends <= {_ENDS[number % 2]} or not key.startswith("old"), path
            assert content.startswith("\ufeff") == (number % 5 == 0), path
        names = {path.rpartition("/")[2].removesuffix(".md") for path in self.paths.values()}
        for content in found.values():
            for target in re.findall(r"(?<!!)\[\[([^\]|#]+)\]\]", content):
                assert target.rpartition("/")[2] in names, f"[[{target}]] leads nowhere"
        if (self.root / "Attachments").exists():
            assert len(list((self.root / "Attachments").iterdir())) == self.attachments
        notes = [file for file in self.root.rglob("*.md") if ".trash" not in file.parts]
        assert {str(file.relative_to(self.root)) for file in notes} == set(self.paths.values())

    # Actions

    async def _edit(self) -> None:
        note, key = self._front()
        word = self._word(key)
        self._to_end_of_a_line(note)
        for character in f" {word}":
            began = time.thread_time()
            QTest.keyClicks(note.editor, character)
            self.key_ms.append((time.thread_time() - began) * 1000)

    async def _new(self) -> None:
        self._number += 1
        key = f"new{self._number}"
        await self.pilot.window.view.commands.create_note(f"Fresh {self._number}")
        self.paths[key] = f"Fresh {self._number}.md"
        await self.pilot.shown(self.paths[key])
        self._watch()
        await self._edit()

    async def _rename(self) -> None:
        key = self._random.choice(sorted(self.paths))
        self._number += 1
        old, name = self.paths[key], f"Called {self._number}"
        renaming = self.pilot.run(
            lambda ws: ws.runner.run(Call.of("move_note", {"name": old, "new_name": name}, USER))
        )
        task = asyncio.ensure_future(renaming)
        while not task.done():
            approvals = self.pilot.approvals
            if approvals.waiting:
                approvals._answer([(item, Approved(item.request.proposal)) for item in approvals.waiting])
            await asyncio.sleep(0.005)
        assert task.result().success, task.result().message
        folder = old.rpartition("/")[0]
        self.paths[key] = f"{folder}/{name}.md" if folder else f"{name}.md"
        await self.pilot.until(lambda: old not in [note.path for note in self.pilot.notes], "tabs follow")

    async def _paste(self) -> None:
        note, key = self._front()
        self._to_end_of_a_line(note)
        word, data = self._word(key), QMimeData()
        kind = self._random.randrange(3)
        if kind == 0:
            image = QImage(4, 4, QImage.Format.Format_RGB32)
            image.fill(self._number)
            data.setImageData(image)
            self.attachments += 1
            before = note.editor.text().count("![[Pasted")
            note.editor.insertFromMimeData(data)
            await self.pilot.until(lambda: note.editor.text().count("![[Pasted") > before, "it is embedded")
            note.editor.insertPlainText(f" {word}")
            return
        if kind == 1:
            data.setHtml(f" <b>{word}</b>")
        data.setText(f" {word}")
        note.editor.insertFromMimeData(data)

    async def _switch(self) -> None:
        if self._random.random() < 0.5:
            await self._open(self._random.choice(sorted(self.paths)))
        else:
            self.pilot.note_area.step(self._random.choice((1, -1)))

    async def _outside(self) -> None:
        """Let another program add a line at the start of a note's text, which may be open and unsaved."""
        _, key = self._front()
        if self._random.random() < 0.5 or key.startswith("new"):
            # A new note has only two lines: both would change the same one, and the user would have to
            # choose.
            key = self._random.choice(sorted(key for key in self.paths if key.startswith("old")))
        word, file = self._word(key), self.root / self.paths[key]
        opened = next((each for each in self.pilot.notes if each.path == self.paths[key]), None)
        if opened is not None and opened.document.is_saving:
            await self.pilot.until(lambda: not opened.document.is_saving)
        content = file.read_bytes()
        end = b"\r\n" if b"\r\n" in content else b"\n"
        at = content.index(end) + len(end)
        file.write_bytes(content[:at] + word.encode() + end + content[at:])
        if opened is None:
            return

        def settled() -> bool:
            return word in opened.editor.text() or opened.document.conflict is not None

        await self.pilot.until(settled, "the tab learns of it")
        if opened.document.conflict is not None:
            assert "changed outside" in opened.notice.text
            opened.notice.answer("Merge")
            await self.pilot.until(lambda: opened.document.conflict is None, "it is merged")
            await self.pilot.until(lambda: word in opened.editor.text())

    # Helpers

    def _word(self, key: str) -> str:
        self._number += 1
        word = f"{self._random.choice(('leaf', 'steam', 'kettle'))}x{self._number:05d}"
        self.words[key].append(word)
        return word

    def _front(self) -> tuple[NoteView, str]:
        note = self.pilot.note
        return note, next(key for key, path in self.paths.items() if path == note.path)

    def _to_end_of_a_line(self, note: NoteView) -> None:
        block = note.editor.document().findBlockByNumber(
            self._random.randrange(2, max(3, note.editor.document().blockCount()))
        )
        cursor = QTextCursor(block) if block.isValid() else note.editor.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        note.editor.setTextCursor(cursor)

    async def _open(self, key: str) -> None:
        path = self.paths[key]
        self.pilot.window.navigation.open(path)
        await self.pilot.shown(path)
        self._watch()

    def _watch(self) -> None:
        for note in self.pilot.notes:
            if note not in self._watched:
                self._watched.add(note)
                note.document.notice_requested.connect(lambda words, tone: self.messages.append(words))
                note.document.unsaved_changed.connect(self._expect_conflict(note))

    def _expect_conflict(self, note: NoteView):
        def check(unsaved: bool) -> None:
            if unsaved and note.document.conflict is None:
                self.messages.append(f"{note.path} is marked as unsaved: {note.document.failure}")

        return check

    async def _at_rest(self, note: NoteView) -> None:
        note.save()
        await self.pilot.until(
            lambda: not note.document.is_dirty and not note.document.is_saving, "all is saved"
        )


def generated_vault(root: Path, notes: int) -> dict[str, str]:
    """Write a vault of linked notes with all kinds of line endings; return the path by each note's key."""
    paths = {f"old{n}": f"{('', 'Garden/', 'Work/Plans/')[n % 3]}Note {n}.md" for n in range(notes)}
    for n, path in enumerate(paths.values()):
        end = _ENDS[n % 2]
        lines = [f"# Note {n}", "", f"Begins here, see [[Note {(n + 1) % notes}]].", "", "- [ ] a task", ""]
        lines += [f"Line {line} of it  " for line in range(12)]
        lines += [f"End, see [[Note {(n * 7 + 3) % notes}]] and no newline after this"]
        mark = "\ufeff" if n % 5 == 0 else ""
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes((mark + end.join(lines)).encode())
    return paths
