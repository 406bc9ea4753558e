"""The user's edits to a proposal, and sentences that describe committed changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.permissions.pluralize import pluralize
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Move, after_of, touched_paths
from app.vault.diff import compare
from app.vault.path import NotePath
from app.vault.unified_diff import unified_diff

MAX_DIFF_CHARS = 4000
"""The longest diff that a caller receives, in characters."""
MAX_LISTED_FILES = 10
"""The maximum number of files that a sentence names."""

LEFT_OUT, EDITED = "Left out by the user", "Edited by the user"

CanSee = Callable[[NotePath], bool]


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A file whose proposed text the user edited before approving it.

    `diff` is a unified diff from the proposed text to the committed one.
    """

    path: str
    diff: str


@dataclass(frozen=True, slots=True)
class UserEdits:
    """The user's changes to a proposal: files that were left out, and files with edited text."""

    left_out: tuple[str, ...]
    edited: tuple[EditedFile, ...]

    def as_fields(self) -> dict[str, object]:
        """Return the fields that these edits add to an outcome."""
        return {
            "changed_by_user": True,
            "left_out_by_user": list(self.left_out),
            "edited_by_user": [{"path": file.path, "diff": file.diff} for file in self.edited],
        }

    @property
    def summary(self) -> str:
        """A sentence for each kind of edit; empty if there is none."""
        sentences = []
        if self.left_out:
            sentences.append(f"{LEFT_OUT}: {_join_names(self.left_out)}.")
        if self.edited:
            sentences.append(f"{EDITED}: {_join_names([file.path for file in self.edited])}.")
        return " ".join(sentences)


def find_user_edits(proposed: ChangeSet, committed: ChangeSet, can_see: CanSee) -> UserEdits:
    """Return the user's edits by comparing the proposed change set with the approved one.

    Args:
        proposed: The changes that the tool proposed.
        committed: The changes that the user approved.
        can_see: Returns whether the caller may know of a file; files that it may not see are not named.
    """
    approved = {change.path: change for change in committed.changes}
    left_out, edited = [], []
    for change in proposed.changes:
        if not all(map(can_see, touched_paths(change))):
            continue
        approved_change = approved.get(change.path)
        if approved_change is None:
            left_out.append(str(change.path))
            continue
        proposed_text, approved_text = after_of(change), after_of(approved_change)
        if proposed_text is not None and approved_text is not None and proposed_text != approved_text:
            diff = _diff(proposed_text, approved_text)
            edited.append(EditedFile(str(touched_paths(approved_change)[-1]), diff))
    return UserEdits(tuple(left_out), tuple(edited))


def describe_changes(committed: ChangeSet, can_see: CanSee) -> str:
    """Describe committed changes, with one sentence for each kind of change.

    Args:
        committed: The changes.
        can_see: Returns whether the caller may know of a file; files that it may not see are not named.
    """
    visible_changes = [change for change in committed.changes if all(map(can_see, touched_paths(change)))]
    targets: dict[str, list[str]] = {}
    for change in visible_changes:
        targets.setdefault(_change_verb(change), []).append(_change_target(change))
    return " ".join(f"{verb.format(_join_names(names))}." for verb, names in targets.items())


def _change_verb(change: FileChange) -> str:
    match change:
        case Create():
            return "Created {}"
        case Delete():
            return "Moved {} to the trash"
        case Move():
            return "Moved {}"
        case _:
            return "Changed {}"


def _change_target(change: FileChange) -> str:
    return f"{change.path} to {change.to}" if isinstance(change, Move) else str(change.path)


def _join_names(names: Iterable[str]) -> str:
    all_names = list(names)
    if len(all_names) <= MAX_LISTED_FILES:
        return ", ".join(all_names)
    return f"{pluralize(len(all_names), 'file')} ({', '.join(all_names[:MAX_LISTED_FILES])}, …)"


def _diff(before: bytes, after: bytes) -> str:
    diff = unified_diff(compare(before, after), "proposed", "committed")
    return diff if len(diff) <= MAX_DIFF_CHARS else f"{diff[:MAX_DIFF_CHARS]}\n… (truncated)\n"
