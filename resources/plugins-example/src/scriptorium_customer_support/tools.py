"""The tools: each reads the notes of one type and proposes changes to them."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.errors import InvalidParametersError, NotFoundError
from app.index.records import NoteRecord
from app.toolkit.argument_types import Limit, MarkdownText, NoteName, Properties
from app.toolkit.context import ToolContext
from app.toolkit.open_note import OpenNote
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.vault.changes import ChangeSet
from app.vault.markdown.properties import set_property

Words = Annotated[str, Field(max_length=500)]
Status = Literal["open", "waiting", "solved", "closed"]

_KEPT = frozenset({"type", "id", "ai"})


class Record(BaseModel):
    """A user, a tenant or a ticket."""

    model_config = ConfigDict(frozen=True)

    name: str
    path: str
    properties: dict[str, JsonValue]


class Records(ToolResult):
    """Users, tenants or tickets; `text` is the text of the note that was read."""

    records: list[Record]
    text: str = ""


@tool(
    category="customer_support",
    examples={
        "find": ("find the user {query}", "look up the customer {query}"),
        "read": ("show the user record of {name}",),
    },
    operations={"find": "query limit?", "read": "name", "update": "name properties"},
    usage_rule="A user is a note of type user: find it before you read or change it.",
)
async def user(
    context: ToolContext,
    op: Literal["find", "read", "update"],
    query: Words | None = None,
    name: NoteName | None = None,
    properties: Properties | None = None,
    limit: Limit | None = None,
) -> Proposal[Records] | Records:
    """Find, read and change users.

    Args:
        op: The operation.
        query: Words that the name or the properties must contain.
        name: The user's note.
        properties: New values of properties, except `type`, `id` and `ai`.
        limit: The maximum number of users; 20 by default.
    """
    if op == "find":
        return await _found(context, "user", query or "", {}, limit)
    note = await _of_type(context, name or "", "user")
    return _read(note) if op == "read" else _update(context, note, properties or {})


@tool(
    category="customer_support",
    examples={"read": ("show the tenant {name}", "read the tenant {name}")},
    operations={"read": "name"},
)
async def tenant(context: ToolContext, op: Literal["read"], name: NoteName) -> Records:
    """Read a tenant and list its users.

    Args:
        op: The operation.
        name: The tenant's note.
    """
    note = await _of_type(context, name, "tenant")
    linked = {link.source for link in context.index.backlinks(note.path)}
    users = [_record(one) for one in _all(context, "user") if one.path in linked]
    found = _read(note)
    message = f"{note.name} has {len(users)} users." if len(users) != 1 else f"{note.name} has 1 user."
    return Records(records=[*found.records, *users], text=found.text, message=message)


@tool(
    category="customer_support",
    examples={"search": ("search the tickets for {query}", "which tickets mention {query}")},
    operations={"search": "query? status? about? limit?", "update": "name status? comment?"},
    usage_rule="In a ticket's comment, state what was done, not your opinion of it.",
)
async def ticket(
    context: ToolContext,
    op: Literal["search", "update"],
    query: Words | None = None,
    about: Words | None = None,
    name: NoteName | None = None,
    status: Status | None = None,
    comment: MarkdownText | None = None,
    limit: Limit | None = None,
) -> Proposal[Records] | Records:
    """Search tickets, and change their status or add a comment.

    Args:
        op: The operation.
        query: Words that the name or the properties must contain.
        about: The user or tenant that the ticket must be about.
        name: The ticket's note.
        status: The status to search for or to set.
        comment: A comment to add at the end.
        limit: The maximum number of tickets; 20 by default.
    """
    if op == "search":
        wanted = {"status": status or "", "user tenant": about or ""}
        return await _found(context, "ticket", query or "", wanted, limit)
    if status is None and not comment:
        raise InvalidParametersError("Give a status, a comment, or both. Nothing was changed.")
    note = await _of_type(context, name or "", "ticket")
    return _update(context, note, {"status": status} if status else {}, comment or "")


def _all(context: ToolContext, record_type: str) -> list[NoteRecord]:
    return [record for record in context.index.notes() if record.type == record_type]


async def _found(
    context: ToolContext, record_type: str, query: str, wanted: dict[str, str], limit: int | None
) -> Records:
    """Return the records of a type that contain every word of `query`.

    `wanted` maps property names, separated by spaces, to a text that at least one of them must contain.
    """

    def matches(record: NoteRecord) -> bool:
        said = {key: str(value).casefold() for key, value in record.properties.items()}
        everything = " ".join([record.name.casefold(), *said.values()])
        return all(word in everything for word in query.casefold().split()) and all(
            any(value.casefold() in said.get(key, "") for key in keys.split())
            for keys, value in wanted.items()
        )

    records = _all(context, record_type)
    found = await asyncio.to_thread(lambda: [_record(one) for one in records if matches(one)])
    kept = found[: limit or 20]
    return Records(records=kept, message=f"{len(kept)} of {len(found)} matching {record_type}s.")


async def _of_type(context: ToolContext, name: str, record_type: str) -> OpenNote:
    note = await context.vault.resolve_for_reading(name)
    found = str(note.parsed.properties.get("type", ""))
    if found != record_type:
        names = [one.name for one in _all(context, record_type)][:10]
        raise NotFoundError(f"{note.name} is not a {record_type}.", name=name, suggestions=names)
    return note


def _record(record: NoteRecord) -> Record:
    return Record(name=record.name, path=str(record.path), properties=_plain(dict(record.properties)))


def _read(note: OpenNote) -> Records:
    record = Record(name=note.name, path=str(note.path), properties=_plain(dict(note.parsed.properties)))
    return Records(records=[record], text=note.readable_text, message=f"Read {note.name}.")


def _update(
    context: ToolContext, note: OpenNote, properties: dict[str, JsonValue], comment: str = ""
) -> Proposal[Records]:
    if kept := sorted(_KEPT & properties.keys()):
        raise InvalidParametersError(f"The property {kept[0]} can't be changed here.", property=kept[0])
    text = note.text
    for key, value in properties.items():
        text = set_property(text, key, value)
    if comment:
        text = f"{text.rstrip()}\n\n{comment.strip()}\n"
    change = note.with_text(text)
    result = _read(OpenNote(note.path, change.after)).model_copy(update={"message": f"Changed {note.name}."})
    return context.propose(ChangeSet.of(change, summary=f"Change {note.path}"), result)


def _plain(properties: dict[str, object]) -> dict[str, JsonValue]:
    """Return the properties as JSON values; dates become text."""
    return {key: _value(value) for key, value in properties.items()}


def _value(value: object) -> JsonValue:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple):
        return [_value(one) for one in value]
    return str(value)
