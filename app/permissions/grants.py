"""Standing permissions that the user granted: the session's toggles, and narrow ones from the dialog.

A grant marked "always" is saved in the vault's data folder. Every other grant ends with the session, or
earlier if it has a time limit. A file that can't be read grants nothing and is set aside.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePath

from app.errors import PermissionDeniedError, StorageError
from app.events import Event, EventBus
from app.permissions.approval import GrantOffer
from app.permissions.impact import ImpactPart
from app.permissions.pluralize import pluralize
from app.permissions.scope import Operation
from app.storage.files import DurableFile, to_json

_GRANTABLE = frozenset(
    {Operation.READ, Operation.CREATE, Operation.UPDATE, Operation.DELETE, Operation.NETWORK}
)
_EXPIRY_SLACK_S = 0.05
_TOGGLES = frozenset({Operation.READ, Operation.CREATE, Operation.UPDATE, Operation.DELETE})
_OPERATION_NAMES = {
    Operation.READ: "reading outside the vault",
    Operation.CREATE: "new notes",
    Operation.UPDATE: "edits",
    Operation.DELETE: "deletions of notes without backlinks",
    Operation.NETWORK: "network requests",
}


@dataclass(frozen=True, slots=True)
class Grant:
    """A standing permission.

    `until` and `created` are Unix seconds; `until` is None for a grant that lasts for the session or
    permanently (`always`). `used` counts the calls that it authorized. `label` states what it covers and
    until when.
    """

    id: str
    label: str
    operation: Operation
    tool: str | None
    folder: str | None
    until: float | None
    always: bool
    used: int
    created: float

    def covers(self, part: ImpactPart, tool: str, outside: tuple[str, ...]) -> bool:
        """Return whether the grant authorizes this part of a call of `tool`.

        A grant covers only the vault; other document stores have their own permissions.

        Args:
            part: One operation of the call.
            tool: The tool's name.
            outside: The folders that the call reads outside the vault.
        """
        if part.store_id or part.operation is not self.operation or self.tool not in (None, tool):
            return False
        if self.folder is None:
            return True
        if part.path is not None:
            return part.operation is not Operation.READ and part.path.is_under(self.folder)
        return bool(outside) and all(is_within(folder, self.folder) for folder in outside)


@dataclass(frozen=True, slots=True)
class GrantsChanged(Event):
    """A grant was given, used or revoked, or has ended; `grants` are those in force now."""

    grants: tuple[Grant, ...]


class Grants:
    """The grants of one vault.

    Deletes can be granted only while `deletes_unlocked` is true. `problem` is a message for the user about an
    unreadable file, or empty. Methods that change the grants raise StorageError if the file can't be written;
    the change still applies until the vault is closed.

    Args:
        folder: The vault's data folder, where permanent grants are saved.
        clock: Returns the time in Unix seconds.
        events: Receives `GrantsChanged`.
    """

    def __init__(
        self, folder: Path, clock: Callable[[], float] = time.time, events: EventBus | None = None
    ) -> None:
        # Without a backup: a revoked permission must not return.
        self._file = DurableFile(
            folder / "grants.json",
            "The list of auto-approve rules",
            _parse,
            list[Grant],
            "None of them is in effect; changes need approval again.",
            keeps_backup=False,
        )
        self._clock = clock
        self._events = events
        self.deletes_unlocked = False
        self._seen_outside: set[str] = set()
        grants, self.problem = self._file.load()
        self._grants = {grant.id: grant for grant in grants}

    def active_grants(self) -> tuple[Grant, ...]:
        """Return the grants in force, oldest first; removes expired ones and publishes the change."""
        now = self._clock()
        ended = [
            grant_id
            for grant_id, grant in self._grants.items()
            if grant.until is not None and grant.until <= now
        ]
        for grant_id in ended:
            del self._grants[grant_id]
        if ended:
            self._save_and_publish()
        return tuple(self._grants.values())

    def add(self, offer: GrantOffer) -> Grant:
        """Add the grant that `offer` describes.

        Raises:
            PermissionDeniedError: The operation can't be granted, or deletes are not unlocked.
        """
        self._check(offer.operation)
        until = None if offer.minutes is None else self._clock() + 60 * offer.minutes
        grant = Grant(
            id=uuid.uuid4().hex,
            label=grant_label(offer),
            operation=offer.operation,
            tool=offer.tool,
            folder=offer.folder,
            until=until,
            always=offer.always,
            used=0,
            created=self._clock(),
        )
        self._put(grant)
        return grant

    def set_session(self, operation: Operation, on: bool) -> None:
        """Turn the session's toggle for `operation` (create, update, delete, outside reads) on or off.

        Raises:
            PermissionDeniedError: There is no such toggle, or deletes are not unlocked in the settings.
        """
        grant_id = f"session:{operation.value}"
        if not on:
            self.revoke(grant_id)
            return
        if operation not in _TOGGLES:
            raise _ungrantable_error(operation)
        self._check(operation)
        label = f"All {_operation_label(operation, None)} until Scriptorium closes"
        self._put(Grant(grant_id, label, operation, None, None, None, False, 0, self._clock()))

    def revoke(self, grant_id: str) -> None:
        """Revoke a grant; does nothing if it has ended."""
        if self._grants.pop(grant_id, None) is not None:
            self._save_and_publish()

    def match(
        self, parts: Iterable[ImpactPart], tool: str, outside: tuple[str, ...] = ()
    ) -> tuple[Grant, ...] | None:
        """Return the grants that together cover every part; None if a part is not covered."""
        active = [
            g for g in self.active_grants() if g.operation is not Operation.DELETE or self.deletes_unlocked
        ]
        matches: dict[str, Grant] = {}
        for part in parts:
            grant = next((g for g in active if g.covers(part, tool, outside)), None)
            if grant is None:
                return None
            matches[grant.id] = grant
        return tuple(matches.values())

    def record_use(self, ids: Iterable[str]) -> None:
        """Count a call that these grants authorized."""
        for grant_id in ids:
            if grant_id in self._grants:
                self._grants[grant_id] = replace(self._grants[grant_id], used=self._grants[grant_id].used + 1)
        self._save_and_publish()

    def remember_outside(self, folders: Iterable[str]) -> None:
        """Remember that the user allowed a read of these folders outside the vault."""
        self._seen_outside.update(folders)

    def is_new_outside(self, folder: str) -> bool:
        """Return whether no read of `folder`, or of a folder above it, was allowed before."""
        allowed_folders = [
            g.folder for g in self.active_grants() if g.operation is Operation.READ and g.folder
        ]
        return not any(is_within(folder, known) for known in (*self._seen_outside, *allowed_folders))

    def _check(self, operation: Operation) -> None:
        if operation not in _GRANTABLE:
            raise _ungrantable_error(operation)
        if operation is Operation.DELETE and not self.deletes_unlocked:
            message = "Deleting always needs approval; you can change that in the settings."
            raise PermissionDeniedError(message, operation=operation.value)

    def _put(self, grant: Grant) -> None:
        self._grants[grant.id] = grant
        if grant.until is not None:
            self._schedule_expiry_check(grant.until - self._clock())
        self._save_and_publish()

    def _schedule_expiry_check(self, seconds: float) -> None:
        """Publish the expiry on time; without a running loop, the next `active_grants` publishes it."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        loop.call_later(seconds + _EXPIRY_SLACK_S, self.active_grants)

    def _save_and_publish(self) -> None:
        try:
            self._save()
        finally:
            # Without being saved, the change applies until the vault is closed.
            if self._events is not None:
                self._events.publish(GrantsChanged(self.active_grants()))

    def _save(self) -> None:
        lasting = [asdict(grant) for grant in self._grants.values() if grant.always]
        if not lasting and not self._file.path.exists():
            return
        try:
            self._file.save(to_json(lasting))
        except OSError as error:
            message = (
                f"The list of auto-approve rules can't be saved: {error.strerror or error}. The change "
                "applies until the vault is closed. Check the disk; the next change to the list saves it."
            )
            raise StorageError(message, path=str(self._file.path)) from error


def _parse(content: bytes) -> list[Grant]:
    """Return the permanent grants in a file's content."""
    grants = [Grant(**{**entry, "operation": Operation(entry["operation"])}) for entry in json.loads(content)]
    return [grant for grant in grants if grant.always and grant.operation in _GRANTABLE]


def _ungrantable_error(operation: Operation) -> PermissionDeniedError:
    return PermissionDeniedError(
        f"An auto-approve rule can't cover this operation: {operation.value}.", operation=operation.value
    )


def grant_label(offer: GrantOffer) -> str:
    """Return a grant's coverage and duration: "Edits by edit_note in Projects/ for 30 minutes"."""
    coverage = coverage_label(offer)
    return f"{coverage[0].upper()}{coverage[1:]} {_duration_label(offer)}"


def coverage_label(offer: GrantOffer) -> str:
    """Return a grant's coverage, without its duration."""
    by = f" by {offer.tool}" if offer.tool else ""
    if offer.folder is None:
        scope = "" if offer.operation in (Operation.READ, Operation.NETWORK) else " anywhere in the vault"
    else:
        scope = f" in {offer.folder.rstrip('/')}/"
    return f"{_operation_label(offer.operation, offer.tool)}{by}{scope}"


def _operation_label(operation: Operation, tool: str | None) -> str:
    # Moving a note updates it at both ends; a grant for one tool covers only what that tool does.
    moves = " and moves" if operation is Operation.UPDATE and tool is None else ""
    return f"{_OPERATION_NAMES[operation]}{moves}"


def offer_label(offer: GrantOffer) -> str:
    """Return the label of the dialog's button for `offer`."""
    if offer.always:
        return f"Approve, and always allow {coverage_label(offer)}"
    return f"Approve, and allow {coverage_label(offer)} {_duration_label(offer)}"


def is_within(folder: str, top: str) -> bool:
    """Return whether a folder outside the vault is `top` or lies below it."""
    return PurePath(folder).is_relative_to(PurePath(top))


def _duration_label(offer: GrantOffer) -> str:
    if offer.always:
        return "with no time limit"
    if offer.minutes is None:
        return "until Scriptorium closes"
    return f"for {pluralize(offer.minutes, 'minute')}"
