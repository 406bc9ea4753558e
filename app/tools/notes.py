"""Category notes: create, read, edit and list notes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from app.errors import ConflictError, InvalidParametersError
from app.index.records import NoteRecord
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import (
    ContentHash,
    FolderName,
    HeadingText,
    Limit,
    MarkdownText,
    NewNoteName,
    NoteName,
    Offset,
    Properties,
)
from app.toolkit.context import ToolContext
from app.toolkit.open_note import OpenNote
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.vault.changes import ChangeSet, Create, after_of
from app.vault.markdown import body_edits, relation_edits
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.patch import apply_patch
from app.vault.markdown.properties import remove_property, set_property
from app.vault.markdown.tables import add_rows
from app.vault.path import NotePath, note_path, slug

_MAX_READ_CHARS = 200_000
_MAX_VALUE_CHARS = 80


class NoteWritten(ToolResult):
    """A created or changed note."""

    name: str
    path: str


class NoteText(ToolResult):
    """A part of a note, or all of it; line numbers start at 1."""

    name: str
    path: str
    text: str
    start_line: int
    end_line: int
    total_lines: int
    hash: str


class NoteEntry(BaseModel):
    """A note in a list; `modified` is a Unix time in seconds."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    path: str
    type: str
    modified: float
    size: int


class NoteList(ToolResult):
    """A page of the notes in a folder; `total` counts all of them."""

    notes: list[NoteEntry]
    total: int


class NoteMetadata(ToolResult):
    """Metadata of a note; times are in Unix seconds, `size` is in bytes.

    `storage_id` identifies the note in calls to any tool; it is opaque.
    """

    name: str
    path: str
    storage_id: str
    type: str
    confidence: float | None
    tags: list[str]
    properties: dict[str, JsonValue]
    backlinks: list[str]
    forward_links: list[str]
    unresolved_links: list[str]
    created: float
    modified: float
    size: int
    word_count: int
    problem: str | None


@tool(
    category="notes",
    examples=(
        "create a note called {name}",
        "new note {name}",
        "make a note {name} in {folder}",
        "create {name} with the text {content}",
        "add a new note named {name} that says {content}",
        "start a note about {name}",
    ),
    usage_rule="Search before create_note: the note may exist under another name.",
    creates_only=True,
)
async def create_note(
    context: ToolContext, name: NewNoteName, content: MarkdownText = "", folder: FolderName = ""
) -> Proposal[NoteWritten]:
    """Create a note. Never overwrites an existing note.

    Fails if a note with the same name, title or slug exists (ignoring case) in the given folder, or anywhere
    in the vault if no folder is given. The error names that note.

    Args:
        name: The name of the note, optionally with folders ("Ideas/Tea").
        content: The text. If it is empty, the note starts with its name as a heading.
        folder: The folder for the note; the vault's root if empty.
    """
    path = new_path(name, folder)
    nearby_notes = context.index.notes(path.folder, recursive=False) if path.folder else context.index.notes()
    existing = context.vault.existing_path(path) or find_similar(nearby_notes, path)
    if existing is not None:
        raise ConflictError(f"There is already a note at {existing}.", path=str(existing))
    text = content or f"# {path.name}\n"
    complete_text = text if text.endswith("\n") else text + "\n"
    change = Create(path, complete_text.encode("utf-8"))
    result = NoteWritten(name=path.name, path=str(path), message=f"Created [[{path.name}]].")
    return context.propose(ChangeSet.of(change, summary=f"Create {path}"), result)


def new_path(name: str, folder: str) -> NotePath:
    """Return the path of a new note; the name may have wikilink brackets and folders."""
    name_without_brackets = name.strip().removeprefix("[[").removesuffix("]]").strip()
    lead, _, last = name_without_brackets.rpartition("/")
    return note_path("/".join(part for part in (folder.strip().rstrip("/"), lead) if part), last)


def find_similar(notes: Iterable[NoteRecord], path: NotePath) -> NotePath | None:
    """Return a note whose name or title has the same slug as the name in `path`, or None."""
    wanted_slug = slug(path.name)
    if not wanted_slug:
        return None
    return next((n.path for n in notes if wanted_slug in (slug(n.name), slug(n.title))), None)


@tool(
    category="notes",
    examples=(
        "open {name}",
        "show me {name}",
        "read the note {name}",
        "what does {name} say?",
        "go to {name}",
        "display {name}",
        "what is in {name}?",
    ),
)
async def read_note(
    context: ToolContext, name: NoteName, start_line: int = 1, end_line: int | None = None
) -> NoteText:
    """Read a note or a range of its lines.

    Args:
        name: The note.
        start_line: The first line, from 1.
        end_line: The last line; the end of the note by default.
    """
    note = await context.vault.resolve_for_reading(name)
    lines = note.readable_text.splitlines(keepends=True)
    first = max(1, start_line)
    last = len(lines) if end_line is None else min(end_line, len(lines))
    if end_line is not None and end_line < first:
        raise InvalidParametersError("end_line is before start_line.", start_line=first, end_line=end_line)
    if first > max(1, len(lines)):
        message = f"[[{note.name}]] has {pluralize(len(lines), 'line')}."
        raise InvalidParametersError(message, path=str(note.path), start_line=first, total_lines=len(lines))
    text = "".join(lines[first - 1 : last])
    shown_text = _truncate_lines(text)
    last_shown = first + len(shown_text.splitlines()) - 1 if shown_text else first - 1
    remark = (
        ""
        if len(shown_text) == len(text)
        else f" Truncated after line {last_shown}; read the rest from the next line."
    )
    answer = NoteText(
        name=note.name,
        path=str(note.path),
        text=shown_text,
        start_line=first,
        end_line=last_shown,
        total_lines=len(lines),
        hash=note.hash,
        message=f"Read [[{note.name}]].{remark}",
    )
    return answer.from_notes([note.is_from_web])


def _truncate_lines(text: str) -> str:
    """Truncate text to the lines that fit in one result; if not even the first line fits, truncate it."""
    if len(text) <= _MAX_READ_CHARS:
        return text
    return text[: text.rfind("\n", 0, _MAX_READ_CHARS) + 1] or text[:_MAX_READ_CHARS]


@tool(
    category="notes",
    usage_rule="update_note replaces the whole text of a note; use edit_note for anything smaller.",
)
async def update_note(
    context: ToolContext, name: NoteName, content: MarkdownText, expected_hash: ContentHash | None = None
) -> Proposal[NoteWritten]:
    """Replace a note's text and keep its properties byte for byte.

    Args:
        name: The note.
        content: The new text, without properties.
        expected_hash: The hash that read_note returned; the call fails if the note has changed since.
    """
    note = await context.vault.resolve_strictly(name)
    if expected_hash is not None and expected_hash != note.hash:
        raise ConflictError(
            f"{note.path} has changed since it was read.",
            path=str(note.path),
            expected_hash=expected_hash,
            current_hash=note.hash,
        )
    return _propose_text(context, note, body_edits.replace_body(note.text, content), "Replace the text of")


@tool(
    category="notes",
    operations={
        "append": "text",
        "prepend": "text",
        "replace": "old text occurrence?",
        "insert_under": "heading text",
        "replace_section": "heading text",
        "patch": "patch",
    },
    examples=(
        "append {text} to {name}",
        "add {text} to the note {name}",
        "write {text} at the end of {name}",
        "add a line to {name}: {text}",
        "put {text} at the top of {name}",
        "prepend {text} to {name}",
        "replace {old} with {text} in {name}",
        "change {old} to {text} in {name}",
        "add {text} under {heading} in {name}",
        "in {name} replace the section {heading} with {text}",
    ),
    usage_rule="In edit_note, `old` must exactly match a unique passage of the note, as read_note shows it.",
)
async def edit_note(
    context: ToolContext,
    name: NoteName,
    op: Literal["append", "prepend", "replace", "insert_under", "replace_section", "patch"],
    text: MarkdownText | None = None,
    old: MarkdownText | None = None,
    heading: HeadingText | None = None,
    occurrence: int | None = None,
    patch: MarkdownText | None = None,
) -> Proposal[NoteWritten]:
    """Change a part of a note's text; everything else, including the properties, stays unchanged.

    Args:
        name: The note.
        op: append or prepend `text` (a final `## Relations` section stays last); replace `old` with `text`;
            insert_under or replace_section a heading (append and insert_under put rows of a table at the end
            of the only table there); or apply a unified-diff `patch` whose context lines
            must match.
        text: The text to write.
        old: The text to replace; it must occur exactly once unless `occurrence` selects one.
        heading: The heading's text, without #.
        occurrence: Which occurrence to use, counted from 1.
        patch: Hunks of a unified diff.
    """
    note = await context.vault.resolve_strictly(name)
    before, replacement = note.text, text or ""
    match op:
        case "append":
            after = add_rows(before, replacement) or relation_edits.append_prose(before, replacement)
        case "prepend":
            after = body_edits.prepend(before, replacement)
        case "replace":
            after = body_edits.replace_text(before, old or "", replacement, occurrence)
        case "insert_under":
            rows_added = add_rows(before, replacement, heading) if heading else None
            after = rows_added or body_edits.insert_under(before, heading or "", replacement)
        case "replace_section":
            after = body_edits.replace_section(before, heading or "", replacement)
        case "patch":
            after = apply_patch(before, patch or "")
    if _properties_of(after) != _properties_of(before):
        raise InvalidParametersError(
            "That would change the note's properties, which edit_note leaves unchanged. Nothing was written; "
            "use set_properties.",
            path=str(note.path),
        )
    message = {"append": "Append to", "prepend": "Add to the top of", "patch": "Patch"}
    return _propose_text(context, note, after, message.get(op, "Edit"))


@tool(
    category="notes",
    examples=("set the properties of {name}", "set properties on {name}"),
)
async def set_properties(
    context: ToolContext,
    name: NoteName,
    properties: Properties | None = None,
    remove: list[str] | None = None,
) -> Proposal[NoteWritten]:
    """Set or remove properties of a note; only their own lines change.

    Args:
        name: The note.
        properties: Values by property name: text, number, true or false, or a list of them.
        remove: Names of properties to remove.
    """
    note = await context.vault.resolve_strictly(name)
    if not properties and not remove:
        raise InvalidParametersError("Specify the properties to set or remove.")
    text = note.text
    for key in remove or ():
        text = remove_property(text, key)
    for key, value in (properties or {}).items():
        text = set_property(text, key, value)
    summary = _properties_summary(note.path, tuple(properties or ()), tuple(remove or ()))
    change_set = ChangeSet.of(note.with_text(text), summary=summary)
    names = tuple(dict.fromkeys((*(remove or ()), *(properties or {}))))

    def report(committed: ChangeSet) -> NoteWritten:
        message = _properties_message(note, committed, names)
        return NoteWritten(name=note.name, path=str(note.path), message=message)

    return context.propose(change_set, report)


@tool(
    category="notes",
    examples=(
        "list all notes",
        "list the notes in {folder}",
        "which notes are in {folder}?",
        "show folder {folder}",
    ),
)
async def list_notes(
    context: ToolContext,
    folder: FolderName = "",
    recursive: bool = True,
    limit: Limit = 50,
    offset: Offset = 0,
) -> NoteList:
    """List the notes in a folder, sorted by path.

    Args:
        folder: The folder; the whole vault if empty.
        recursive: Also list subfolders.
        limit: The maximum number of results.
        offset: The number of results to skip.
    """
    records = context.index.notes(folder.strip("/") or None, recursive)
    entries = [
        NoteEntry(name=n.name, path=str(n.path), type=n.type, modified=n.modified, size=n.size)
        for n in records[offset : offset + limit]
    ]
    scope = f"in {folder}" if folder else "in the vault"
    return NoteList(notes=entries, total=len(records), message=f"{pluralize(len(records), 'note')} {scope}.")


@tool(
    category="notes",
    examples=(
        "what links to {name}?",
        "what links here?",
        "show backlinks of {name}",
        "which notes link to {name}?",
        "metadata of {name}",
        "which tags does {name} have?",
        "properties of {name}",
    ),
)
async def get_metadata(context: ToolContext, name: NoteName) -> NoteMetadata:
    """Return the tags, properties, links, backlinks, times and size of a note.

    Args:
        name: The note.
    """
    note = await context.vault.resolve_for_reading(name)
    record = context.index.note(note.path)
    outgoing = context.index.outgoing(note.path)
    backlinks = _deduplicate(str(link.source) for link in context.index.backlinks(note.path))
    parts = (
        pluralize(len(note.parsed.properties), "property", "properties"),
        pluralize(len(note.parsed.tag_names), "tag"),
        pluralize(len(backlinks), "backlink"),
    )
    return NoteMetadata(
        name=note.name,
        path=str(note.path),
        storage_id=str(note.storage_id),
        type=note.parsed.type,
        confidence=note.parsed.confidence,
        tags=list(note.parsed.tag_names),
        properties=dict(note.parsed.properties),
        backlinks=backlinks,
        forward_links=_deduplicate(str(link.target) for link in outgoing if link.target is not None),
        unresolved_links=_deduplicate(link.target_text for link in outgoing if link.target is None),
        created=record.created if record else 0.0,
        modified=record.modified if record else 0.0,
        size=len(note.content),
        word_count=record.words if record else 0,
        problem=note.parsed.properties_problem or (record.problem if record else None),
        message=f"[[{note.name}]] has {', '.join(parts[:-1])} and {parts[-1]}.",
    )


def _properties_of(text: str) -> str:
    """Return a note's properties block, without the byte order mark and final newlines; empty if none."""
    block = text[: read_frontmatter(text).body_start]
    return block.removeprefix("\ufeff").rstrip("\r\n")


def _deduplicate(texts: Iterable[str]) -> list[str]:
    """Return the strings without duplicates, in order."""
    return list(dict.fromkeys(texts))


def _properties_message(note: OpenNote, committed: ChangeSet, names: tuple[str, ...]) -> str:
    """Return the result of setting properties, with name and value if only one property was set."""
    written = next((after_of(change) for change in committed.changes), None)
    if written is None:
        return f"[[{note.name}]] already has this text; nothing to do."
    (name, *others) = names
    if others:
        return f"Changed [[{note.name}]]."
    properties = OpenNote(note.path, written).parsed.properties
    # As in `find_entry`, which raises an error for duplicates, and the change is already written.
    folded = name.strip().casefold()
    key = name if name in properties else next((k for k in properties if k.casefold() == folded), None)
    if key is None:
        return f"Removed {name} from [[{note.name}]]."
    value = properties[key]
    text = "" if value is None else _value_text(value)
    return f"Set {key} of [[{note.name}]] to {text}." if text else f"Cleared {key} of [[{note.name}]]."


def _properties_summary(path: NotePath, properties: tuple[str, ...], removed: tuple[str, ...]) -> str:
    """Return which properties change: "Set rating of Dune.md"."""
    if not removed:
        return f"Set {', '.join(properties)} of {path}"
    if not properties:
        return f"Remove {', '.join(removed)} from {path}"
    return f"Set {', '.join(properties)} and remove {', '.join(removed)} of {path}"


def _value_text(value: object) -> str:
    """Return a property's value on one line, limited in length."""
    values = value if isinstance(value, list | tuple) else (value,)
    words = (str(item).lower() if isinstance(item, bool) else str(item) for item in values)
    text = " ".join(", ".join(words).split())
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[: _MAX_VALUE_CHARS - 1]}…"


def _propose_text(context: ToolContext, note: OpenNote, text: str, action: str) -> Proposal[NoteWritten]:
    """Propose new text for a note; `action` starts the summary ("Append to")."""
    change_set = ChangeSet.of(note.with_text(text), summary=f"{action} {note.path}")
    message = (
        f"Changed [[{note.name}]]."
        if change_set
        else f"[[{note.name}]] already has this text; nothing to do."
    )
    return context.propose(change_set, NoteWritten(name=note.name, path=str(note.path), message=message))
