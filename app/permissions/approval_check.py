"""Check that an approved proposal is the one that was shown, a part of it, or the user's edit of it.

The user may leave out files and hunks and edit text. An approval must not add a file or an emptied folder,
change the path or the kind of a change, or include a change that is based on different file contents.
"""

from __future__ import annotations

from app.errors import PermissionDeniedError
from app.permissions.approval import Effect
from app.vault.changes import ChangeSet, Delete, FileChange, before_of, touched_paths


def check_approved(proposed: ChangeSet | Effect, approved: ChangeSet | Effect) -> None:
    """Check that `approved` is a valid answer to `proposed`.

    Raises:
        PermissionDeniedError: It is a different proposal, which must not be carried out.
    """
    if approved is proposed:
        return
    if isinstance(proposed, Effect) or isinstance(approved, Effect):
        if approved != proposed:
            raise PermissionDeniedError("The approval is for a different effect than the one shown.")
        return
    if proposed.place != approved.place:
        raise PermissionDeniedError("The approval is for a change in a different store than the one shown.")
    if not set(approved.emptied) <= set(proposed.emptied):
        raise PermissionDeniedError("The approval empties a folder that was not shown.")
    offered = {change.path: change for change in proposed.changes}
    for change in approved.changes:
        if not _is_variant(offered.get(change.path), change):
            raise PermissionDeniedError(
                f"The approval includes a change to {change.path} that was not shown.", path=str(change.path)
            )


def _is_variant(proposed: FileChange | None, approved: FileChange) -> bool:
    if proposed is None or type(proposed) is not type(approved):
        return False
    if isinstance(approved, Delete):
        return proposed == approved
    same_place = touched_paths(proposed) == touched_paths(approved)
    return same_place and before_of(proposed) == before_of(approved)
