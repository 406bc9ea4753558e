"""Dialogs about unsaved text: during a conflict with the note on disk, and when a tab is closed."""

from __future__ import annotations

from enum import Enum, auto

from PySide6.QtWidgets import QDialog, QWidget

from app.desktop.notes.conflict_dialog import ConflictDialog, ConflictTexts
from app.desktop.notes.document import NoteDocument
from app.desktop.runtime.translation import translate
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.vault.undo import MergeConflict


async def compare_conflict(document: NoteDocument, theme: ThemeSource, parent: QWidget) -> None:
    """Let the user compare the unsaved text with the file, and apply the choice.

    Without a choice, or if the file has changed again, the user's edits are kept for the next comparison. If
    the conflict has ended in the meantime, the choice or the edits are loaded into the editor. Does nothing
    for a deleted note.
    """
    conflict = document.conflict
    if conflict is None or conflict.theirs is None:
        return
    own_content, merged = document.text.encode("utf-8"), await document.compute_merge()
    merge_conflict = MergeConflict(
        conflict.theirs.path, own_content, conflict.theirs.content, conflict.base.content
    )
    merged_content = None if merged is None else merged.encode("utf-8")
    resolution = None if conflict.result is None else conflict.result.encode("utf-8")
    dialog = ConflictDialog(
        [merge_conflict],
        theme,
        parent.window(),
        texts=_conflict_texts(),
        merged=merged_content,
        resolution=resolution,
    )
    choices: list[bytes | None] = []
    # Read the choices on `finished`, before the dialog is deleted; every way to close the dialog emits it.
    dialog.finished.connect(lambda _: choices.append(dialog.choices().get(merge_conflict.path, own_content)))
    accepted = await dialogs.run_dialog(dialog) == int(QDialog.DialogCode.Accepted)
    choice = choices[0] if choices else None
    result = own_content if choice is None else choice
    if accepted and document.conflict is conflict:
        document.resolve(result.decode("utf-8"))
        return
    is_edited = result not in (own_content, merge_conflict.theirs, merged_content)
    if document.conflict is not None:
        document.postpone_decision(result.decode("utf-8") if is_edited else None)
    elif accepted or is_edited:
        # The conflict ended while the dialog was open, so there is nothing left to decide.
        document.load_result(result.decode("utf-8"))


class _Answer(Enum):
    CLOSE = auto()
    STAY = auto()
    CHECK_AGAIN = auto()


async def confirm_close(document: NoteDocument, theme: ThemeSource, parent: QWidget) -> bool:
    """Return whether the tab may close: its text is saved, discarded or kept as a draft.

    Raises:
        OSError: The draft can't be written; the text stays unsaved.
    """
    while document.is_dirty:
        if document.conflict is not None:
            answer = await _ask_in_conflict(document, theme, parent)
        elif not document.has_autosave:
            answer = await _ask_to_save(document, parent)
        elif await document.save() or document.conflict is not None:
            answer = _Answer.CHECK_AGAIN
        else:
            answer = await _ask_after_failure(document, parent)
        if answer is not _Answer.CHECK_AGAIN:
            return answer is _Answer.CLOSE
    return True


async def _ask_in_conflict(document: NoteDocument, theme: ThemeSource, parent: QWidget) -> _Answer:
    conflict = document.conflict
    if conflict is not None and conflict.theirs is None:
        return await _ask_after_deletion(document, parent)
    title = translate("UnsavedChanges", "“{0}” was changed while you were writing").format(
        _note_name(document)
    )
    text = translate(
        "UnsavedChanges", "It has unsaved text. Nothing is written until you choose which text to keep."
    )
    answers = (translate("UnsavedChanges", "Keep it open"), translate("UnsavedChanges", "Compare…"))
    if await dialogs.choose(parent.window(), title, text, answers) != 1:
        return _Answer.STAY
    await compare_conflict(document, theme, parent)
    return _Answer.CHECK_AGAIN


async def _ask_after_deletion(document: NoteDocument, parent: QWidget) -> _Answer:
    title = translate("UnsavedChanges", "“{0}” was deleted, or moved outside the app").format(
        _note_name(document)
    )
    text = translate("UnsavedChanges", "It has unsaved text. Create the note again to keep it.")
    answers = (
        translate("UnsavedChanges", "Keep it open"),
        translate("UnsavedChanges", "Discard my text"),
        translate("UnsavedChanges", "Create it again"),
    )
    match await dialogs.choose(parent.window(), title, text, answers):
        case 1:
            document.discard_changes()
            return _Answer.CLOSE
        case 2:
            if await document.recreate():
                return _Answer.CHECK_AGAIN
            return await _ask_after_failure(document, parent)
    return _Answer.STAY


async def _ask_after_failure(document: NoteDocument, parent: QWidget) -> _Answer:
    title = translate("UnsavedChanges", "“{0}” could not be saved").format(_note_name(document))
    if not document.save_draft():
        return await _ask_without_draft(document, parent, title)
    text = translate(
        "UnsavedChanges", "{0}\n\nYour text is kept, and offered when you open the note again."
    ).format(document.failure)
    answers = (
        translate("UnsavedChanges", "Keep it open"),
        translate("UnsavedChanges", "Close without saving"),
        translate("UnsavedChanges", "Try again"),
    )
    match await dialogs.choose(parent.window(), title, text, answers):
        case 1:
            document.leave_draft()
            return _Answer.CLOSE
        case 2:
            return _Answer.CHECK_AGAIN
    return _Answer.STAY


async def _ask_without_draft(document: NoteDocument, parent: QWidget, title: str) -> _Answer:
    """Ask when neither the note nor a draft of it can be written, so that closing would lose the text."""
    text = translate(
        "UnsavedChanges",
        "{0}\n\nA draft could not be written either, so your text is only in this window. Free some disk "
        "space and try again, or copy the text to another program.",
    ).format(document.failure)
    answers = (
        translate("UnsavedChanges", "Keep it open"),
        translate("UnsavedChanges", "Discard my text"),
        translate("UnsavedChanges", "Try again"),
    )
    match await dialogs.choose(parent.window(), title, text, answers):
        case 1:
            document.discard_changes()
            return _Answer.CLOSE
        case 2:
            return _Answer.CHECK_AGAIN
    return _Answer.STAY


async def _ask_to_save(document: NoteDocument, parent: QWidget) -> _Answer:
    title = translate("UnsavedChanges", "Save “{0}”?").format(_note_name(document))
    answers = (
        translate("UnsavedChanges", "Save"),
        translate("UnsavedChanges", "Discard"),
        translate("UnsavedChanges", "Cancel"),
    )
    text = translate("UnsavedChanges", "It has unsaved text.")
    match await dialogs.choose(parent.window(), title, text, answers, is_first_main=True):
        case 0:
            if await document.save() or document.conflict is not None:
                return _Answer.CHECK_AGAIN
            return await _ask_after_failure(document, parent)
        case 1:
            document.discard_changes()
            return _Answer.CLOSE
    return _Answer.STAY


def _note_name(document: NoteDocument) -> str:
    return "" if document.page is None else document.page.path.name


def _conflict_texts() -> ConflictTexts:
    return ConflictTexts(
        title=translate("UnsavedChanges", "Compare both texts"),
        heading=translate("UnsavedChanges", "This note was changed while you were writing"),
        explanation=translate(
            "UnsavedChanges",
            "Your text is on the left, and the text on disk is on the right. Select the changes to take "
            "from the right. Nothing is lost: “Decide later” keeps your choices and edits, undoing in "
            "the note restores your text, and the note's history keeps the other version.",
        ),
        ours=translate("UnsavedChanges", "Keep mine"),
        theirs=translate("UnsavedChanges", "Keep theirs"),
        merged=translate("UnsavedChanges", "Merge"),
        picked=translate("UnsavedChanges", "Use the choices and edits below"),
        cancel_label=translate("UnsavedChanges", "Decide later"),
        accept_label=translate("UnsavedChanges", "Save"),
    )
