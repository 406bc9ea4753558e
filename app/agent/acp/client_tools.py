"""Internal tools behind the requests of external agents; no other caller can use them.

A read in the vault returns only what a model may see; a read outside the vault needs approval. A write is a
change set like any other. An action that the program performs itself is shown as an effect and always needs
approval.
"""

from __future__ import annotations

import asyncio
import re
from typing import Annotated

from pydantic import Field

from app.errors import ConflictError, InvalidParametersError, LimitError, NotFoundError, PermissionDeniedError
from app.permissions.approval import Effect
from app.permissions.impact import COMMAND
from app.toolkit.file_view import FileView, ask_to_read, resolve_path
from app.toolkit.proposal import EffectProposal, Proposal
from app.toolkit.result import ToolResult
from app.toolkit.services import FileContext
from app.toolkit.tool import tool
from app.vault.changes import ChangeSet, Create, Update, after_of, content_hash
from app.vault.path import NotePath

CATEGORY = "programs"
_READ_ONLY_MESSAGE = "Agents may only read in this turn."
_MAX_TEXT_BYTES = 10 * 1024 * 1024

FilePath = Annotated[str, Field(min_length=1, max_length=4096)]


class ReadText(ToolResult):
    """The exact text of a file or of some of its lines; `hash` is the SHA-256 of the whole file."""

    path: str
    text: str
    hash: str


class WrittenText(ToolResult):
    """A written file; `hash` is the SHA-256 of its bytes."""

    path: str
    created: bool
    hash: str


class ActionAllowed(ToolResult):
    """A one-time permission for the program."""

    what: str


@tool(category=CATEGORY)
async def agent_read(
    context: FileContext,
    path: FilePath,
    line: Annotated[int, Field(ge=1)] | None = None,
    limit: Annotated[int, Field(ge=0)] | None = None,
) -> ReadText | EffectProposal[ReadText]:
    """Read a text file for an external agent, byte for byte.

    Args:
        path: The path of the file, absolute or relative to the vault.
        line: The line to start at; the first is 1.
        limit: The maximum number of lines.
    """
    resolved = await resolve_path(context, path)
    view = FileView(context, resolved)

    def read() -> ReadText:
        content, shown_path = view.read(resolved.name), view.display_path(resolved.name)
        text = _line_range(_decode_exact(content, path), line, limit)
        return ReadText(path=shown_path, text=text, hash=content_hash(content), message=f"Read {shown_path}.")

    if resolved.is_outside:
        return ask_to_read(context, f"Read the file {resolved.real_path}", resolved, read=read)
    return await asyncio.to_thread(read)


@tool(category=CATEGORY)
async def agent_write(
    context: FileContext,
    path: FilePath,
    content: Annotated[str, Field(max_length=_MAX_TEXT_BYTES)],
    known_hash: str = "",
    may_change: bool = True,
) -> Proposal[WrittenText]:
    """Write a text file in the vault for an external agent, after the user approves the change.

    Args:
        path: The path of the file, absolute or relative to the vault.
        content: The complete new text.
        known_hash: The hash of the file when the agent last read it; empty if it never did.
        may_change: Whether agents may change anything in this turn.
    """
    if not may_change:
        raise PermissionDeniedError(f"{_READ_ONLY_MESSAGE} {path} was not written.", path=path)
    resolved = await resolve_path(context, path)
    if resolved.vault_path is None:
        raise PermissionDeniedError(
            f"{path} is outside the vault. Only files in the vault can be written.", path=path
        )
    target = NotePath.parse(resolved.vault_path) if resolved.vault_path else None
    if target is None:
        raise InvalidParametersError("The vault is a folder, not a file.", path=path)
    change = await asyncio.to_thread(_plan_write, context, target, content, known_hash)
    created = isinstance(change, Create)
    message = f"{'Created' if created else 'Wrote'} {change.path}."

    def report(committed: ChangeSet) -> WrittenText:
        written = next(filter(None, map(after_of, committed.changes)), change.after)
        return WrittenText(
            path=str(change.path), created=created, hash=content_hash(written), message=message
        )

    return context.propose(ChangeSet.of(change, summary=f"Write {change.path}"), report)


@tool(category=CATEGORY, always_asks=True)
async def agent_action(
    context: FileContext,
    what: Annotated[str, Field(min_length=1)],
    kind: str = "other",
    details: list[str] | None = None,
    may_change: bool = True,
) -> EffectProposal[ActionAllowed]:
    """Allow an external agent to perform an action once. The app does not perform it and cannot undo it.

    Args:
        what: The action, in the agent's words.
        kind: The kind of action, as reported by the agent.
        details: The agent's description, as "name = value".
        may_change: Whether agents may change anything in this turn.
    """
    if not may_change:
        raise PermissionDeniedError(f"{_READ_ONLY_MESSAGE} Not allowed: {what}", what=what)
    fields = (detail.partition(" = ") for detail in details or [])
    arguments = (("kind", kind), *((name, value) for name, _, value in fields))

    async def run() -> ActionAllowed:
        return ActionAllowed(what=what, message="Allowed once. The program performs the action.")

    return context.propose_effect(Effect(COMMAND, f"Run outside the app: {what}", arguments), run)


def _decode_exact(content: bytes, path: str) -> str:
    """Decode the bytes of a file so that encoding the text again gives the same bytes.

    Raises:
        InvalidParametersError: The bytes are not UTF-8.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidParametersError(f"{path} is not UTF-8 text.", path=path) from error


def _line_range(text: str, line: int | None, limit: int | None) -> str:
    if line is None and limit is None:
        return text
    # Not `splitlines`, which also splits at characters that do not end a line in a file.
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    first = (line or 1) - 1
    return "".join(lines[first : None if limit is None else first + limit])


def _plan_write(context: FileContext, target: NotePath, content: str, known_hash: str) -> Create | Update:
    vault = context.vault
    try:
        after = content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidParametersError(
            "The text contains an unpaired surrogate, so it was not written.", path=str(target)
        ) from error
    if len(after) > _MAX_TEXT_BYTES:
        raise LimitError(
            f"The text is larger than {_MAX_TEXT_BYTES // 1024**2} MiB, so it was not written.",
            limit=_MAX_TEXT_BYTES,
        )
    existing = vault.existing_path(target)
    if existing is None:
        return Create(vault.disk_spelling(target), after)
    try:
        before = vault.read(existing)
    except NotFoundError as error:
        # A hidden file is in the way; the program must not learn more about it.
        raise ConflictError(f"Cannot write {target}: the path is in use.", path=str(target)) from error
    if known_hash and known_hash != content_hash(before):
        message = f"{existing} has changed since you read it, so nothing was written. Read it again."
        raise ConflictError(message, path=str(existing))
    return Update(existing, before, after)
