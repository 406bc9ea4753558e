"""The history of a note: its versions, compared with the current text, and restored."""

from __future__ import annotations

from pathlib import Path

from app.desktop.bridge import ServiceThread
from app.desktop.notes.conflict_dialog import ConflictDialog, ConflictResolution
from app.desktop.notes.history_dialog import HistoryDialog
from app.desktop.theme.theme import ThemeSource
from app.permissions.approval import Denied
from app.vault.path import NotePath
from app.vault.undo import MergeConflict
from tests.desktop.whole_vault import WholeVault, whole_vault

NOTES = {"A.md": "# A\n\none\n"}
A = NotePath.parse("A.md")


async def history_of(vault: WholeVault, wait_until, versions: int) -> HistoryDialog:
    dialog = HistoryDialog(A, vault.client, ThemeSource("light"))
    await wait_until(lambda: dialog.list.topLevelItemCount() == versions)
    return dialog


def test_versions_are_listed_and_compared_with_the_current_text(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            await vault.save("A.md", b"# A\n\none\ntwo\n")
            await vault.save("A.md", b"# A\n\none\ntwo\nthree\n")
            dialog = await history_of(vault, wait_until, 3)
            await wait_until(lambda: "same as the current" in dialog.diff_view._message.text())
            assert not dialog.restore_button.isEnabled()
            dialog.list.setCurrentItem(dialog.list.topLevelItem(1))
            await wait_until(lambda: dialog.diff_view.diff is not None)
            assert (dialog.diff_view.diff.added, dialog.diff_view.diff.removed) == (1, 0)
            dialog.list.setCurrentItem(dialog.list.topLevelItem(2))
            await wait_until(lambda: dialog.diff_view.diff.added == 2)
            assert b"".join(dialog.diff_view.diff.before) == NOTES["A.md"].encode()

    gui(main())


def test_restoring_asks_and_restores_the_exact_bytes(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            await vault.save("A.md", b"all new\r\n")
            dialog = await history_of(vault, wait_until, 2)
            dialog.list.setCurrentItem(dialog.list.topLevelItem(1))
            await wait_until(dialog.restore_button.isEnabled)
            vault.decision = Denied()
            await dialog.restore()
            assert (tmp_path / "A.md").read_bytes() == b"all new\r\n"
            vault.decision = None
            await dialog.restore()
            assert len(vault.asked) == 2
            assert (tmp_path / "A.md").read_text() == NOTES["A.md"]
            assert dialog.list.topLevelItemCount() == 3

    gui(main())


def test_a_note_without_history_says_so(gui, service: ServiceThread, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            dialog = HistoryDialog(A, vault.client, ThemeSource("light"))
            await wait_until(lambda: "No versions yet" in dialog.diff_view._message.text())

    gui(main())


def conflict(**more: object) -> MergeConflict:
    ours, theirs, base = b"a\nours\nb\nc\nmine\n", b"a\ntheirs\nb\nc\nyours\n", b"a\nx\nb\nc\ny\n"
    values = {"ours": ours, "theirs": theirs, "base": base}
    return MergeConflict(A, **{**values, **more})


def test_each_difference_can_be_picked(qtbot) -> None:
    dialog = ConflictDialog([conflict()], ThemeSource("light"))
    qtbot.addWidget(dialog)
    assert dialog.ours_button.isChecked()
    dialog.diff_view.canvas.hunk_toggled.emit(1, True)
    assert dialog.choices() == {A: b"a\nours\nb\nc\nyours\n"}
    assert dialog.picked_button.isChecked()
    dialog.editor.field.setPlainText("by hand\n")
    assert dialog.choices() == {A: b"by hand\n"}
    dialog.ours_button.click()
    assert dialog.choices() == {}
    dialog.theirs_button.click()
    assert dialog.choices() == {A: conflict().theirs}


def test_a_file_missing_on_one_side_is_kept_or_deleted(qtbot) -> None:
    missing = conflict(theirs=b"", theirs_missing=True)
    dialog = ConflictDialog([missing], ThemeSource("light"))
    qtbot.addWidget(dialog)
    assert not dialog.picked_button.isEnabled()
    assert dialog.choices() == {}
    dialog.theirs_button.click()
    assert dialog.choices() == {A: None}


def test_nothing_is_picked_at_first() -> None:
    resolution = ConflictResolution.of(conflict(ours=b"", ours_missing=True))
    assert resolution.result is None
    resolution.take_theirs()
    assert resolution.result == conflict().theirs
    resolution.keep_ours()
    assert resolution.result is None
