"""Near-duplicates and related notes in the window, with hand-made vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QPushButton

from app.desktop.bridge import ServiceThread
from app.desktop.duplicates.panel import DuplicatesPanel
from app.desktop.notes.links_pane import LinksPane
from app.desktop.notes.loader import NoteContext
from app.desktop.theme.theme import ThemeSource
from app.embeddings.chunker import Chunk
from app.embeddings.vector_file import NoteChunks
from app.errors import StorageError
from app.toolkit.related import RelatednessReason, RelatedNote
from app.vault.diff import Diff
from app.vault.path import NotePath
from app.workspace.workspace import Workspace
from tests.desktop.whole_vault import whole_vault

ESSAY = "\n".join(f"Sentence {n} of an essay on how bread is made, with details." for n in range(9))
NOTES = {"Essay.md": ESSAY, "Drafts/Essay again.md": f"{ESSAY}\nA line more.", "Tax.md": "In July."}


async def put_vectors(workspace: Workspace) -> None:
    """Store the same vector for both essays, and another for the third note."""
    for number, name in enumerate(NOTES):
        vector = np.zeros(384, dtype=np.float32)
        vector[0 if "Essay" in name else 1] = 1.0
        note = NoteChunks(NotePath.parse(name), str(number), (Chunk("", name, 1, f"h{number}"),))
        await workspace.embeddings.vectors.put([note], {f"h{number}": vector})


def test_a_failed_search_is_not_shown_as_running(
    gui, service: ServiceThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise StorageError("The disk failed.")

    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            panel = DuplicatesPanel(vault.client, ThemeSource("light"))
            with monkeypatch.context() as patch:
                patch.setattr(vault.client, "run", fail)
                with pytest.raises(StorageError):
                    await panel._search()
            assert any(label.text() == "The search failed" for label in panel.empty.findChildren(QLabel))

    gui(main())


def test_pairs_are_listed_with_what_differs(gui, service: ServiceThread, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            panel = DuplicatesPanel(vault.client, ThemeSource("light"))
            opened: list[str] = []
            compared: list[Diff] = []
            panel.diff_view.compared.connect(compared.append)
            panel.open_requested.connect(lambda path, _: opened.append(path))
            panel.show()
            await wait_until(lambda: panel.refresh_button.isEnabled())
            assert "semantic search" in panel.empty.findChildren(QLabel)[2].text()
            await vault.run(put_vectors)
            panel.refresh_button.click()
            await wait_until(lambda: len(panel.pairs) == 1)
            row = panel.table.topLevelItem(0)
            assert [row.text(column) for column in (0, 1, 3)] == ["Essay again", "Essay", "1 and 0 lines"]
            await wait_until(lambda: compared and (b"A line more." in b"".join(compared[-1].before)))
            assert compared[-1].removed >= 1
            for column in (0, 1):
                panel.table.itemActivated.emit(row, column)
            assert opened == ["Drafts/Essay again.md", "Essay.md"]
            panel.close()

    gui(main())


def test_related_notes_say_why(qtbot) -> None:
    pane = LinksPane(ThemeSource("light"))
    qtbot.addWidget(pane)
    pane.show_links(NoteContext(None, (), ()))
    near, tag = RelatednessReason("SEMANTICALLY_RELATED", 0.82), RelatednessReason("SHARED_TAG", 0.4, "food")
    reasons = near, tag, RelatednessReason("BACKLINK_FROM", 1.0)
    pane.show_related((RelatedNote(NotePath.parse("a/Bread.md"), 0.95, reasons),))
    (button,) = [candidate for candidate in pane.findChildren(QPushButton) if candidate.text() == "Bread"]
    assert button.accessibleDescription() == "similar in meaning (0.82) · shares #food · links here"
    with qtbot.waitSignal(pane.open_requested) as opened:
        button.click()
    assert opened.args == ["a/Bread.md", ""]
    pane.forget()
    pane.show_links(NoteContext(None, (), ()))
    buttons = [
        candidate for candidate in pane.widget().findChildren(QPushButton) if candidate.text() == "Bread"
    ]
    assert not buttons, "another note has other relatives"
