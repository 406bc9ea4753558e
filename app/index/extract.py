"""Extract index rows from files: read, hash and parse. The indexer runs this in worker processes.

Rows are plain tuples in the column order of `writer.py`, held by named tuples: tens of thousands of them
cross process boundaries, and transferring dataclasses takes three times as long.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from app.index.logseq import PageNames, page_names, stated_names
from app.index.names import link_key, target_key
from app.index.normalization import count_words, segment
from app.vault.markdown.privacy import HEAD_BYTES, classify_privacy
from app.vault.markdown.scan import scan, scan_outline
from app.vault.markdown.text import decode_lossy, line_at
from app.vault.note import LINKS_TO, Heading, Link, ParsedNote, Privacy, PrivacyVerdict, Relation
from app.vault.note import Task as TaskBox
from app.vault.path import NotePath, name_key

if TYPE_CHECKING:  # Worker processes must not import the records.
    from app.index.records import ProblemKind

log = logging.getLogger(__name__)

MAX_CONTEXT_CHARS = 240
_READ_CHUNK_BYTES = 2**20
_CREATED = ("created", "date created", "created at", "creation date")
"""The names of properties with a note's creation time, in order of preference; "_" and "-" are spaces."""
_json = json.JSONEncoder(default=str).encode
_RACY_WINDOW_NS = 2_000_000_000
_OPEN_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_UNREAD = PrivacyVerdict(Privacy.UNKNOWN, "its properties can't be read")
Row = tuple[Any, ...]
FolderCache = dict[str, bool]


class ExtractTask(NamedTuple):
    """A file to read: its path and the hash of its indexed content (None: unknown, so parse it)."""

    path: str
    known_hash: str | None


class ExtractedNote(NamedTuple):
    """The index rows for a note; a note that was not read is listed with the reason.

    `note` is (name, name_key, title, type, confidence, tags, properties, problem, problem_kind, private,
    words, body_line). `heads` are the columns of the heads index (name and title, aliases, headings, tags),
    `text` is the text for the full-text index; if it is None, text, headings and tasks follow later.
    `modified_ns` is the time that the next scan compares: 0 if the file can't be read, or changed so recently
    that it could change again within the clock's resolution. `created` is the time in the properties if
    `is_dated`, else the file's creation time, or the earlier of its other times if that is unknown.
    """

    path: str
    size: int
    modified_ns: int
    modified: float
    created: float
    hash: str
    aliases: tuple[str, ...]
    note_id: str | None
    note: Row
    heads: Row
    text: str | None
    links: tuple[Row, ...] = ()
    tags: tuple[Row, ...] = ()
    properties: tuple[Row, ...] = ()
    headings: tuple[Row, ...] = ()
    tasks: tuple[Row, ...] = ()
    is_dated: bool = False


class UnchangedFile(NamedTuple):
    """A file whose time changed but whose content did not."""

    path: str
    size: int
    modified_ns: int
    modified: float


class MissingFile(NamedTuple):
    """A file that no longer exists."""

    path: str


ExtractResult = ExtractedNote | UnchangedFile | MissingFile


def extract_chunk(root: str, tasks: Sequence[ExtractTask], max_bytes: int) -> list[ExtractResult]:
    """Extract the rows of these files; unreadable files are listed with the reason."""
    folder, folder_cache = Path(root), FolderCache()
    pages = page_names(folder)
    return [extract(folder, task, max_bytes, folder_cache, pages) for task in tasks]


def extract_outlines(root: str, tasks: Sequence[ExtractTask], max_bytes: int) -> list[ExtractResult]:
    """Extract rows as `extract_chunk` does, but leave text, headings and tasks for later."""
    folder, folder_cache = Path(root), FolderCache()
    pages = page_names(folder)
    return [extract(folder, task, max_bytes, folder_cache, pages, with_words=False) for task in tasks]


def extract(
    root: Path,
    task: ExtractTask,
    max_bytes: int,
    folder_cache: FolderCache | None = None,
    pages: PageNames | None = None,
    *,
    with_words: bool = True,
) -> ExtractResult:
    """Return the rows for a file in the vault at `root`, or report it as unchanged or missing.

    A file that can't be read or parsed is listed with the reason.

    Args:
        root: The vault's folder.
        task: The file.
        max_bytes: The size up to which a file is read.
        folder_cache: Caches which folders are inside the vault.
        pages: How the vault names its files if it is one of Logseq.
        with_words: Whether to return text, headings and tasks, too; otherwise they follow later.
    """
    path = NotePath.on_disk(task.path)
    started = time.time_ns()
    try:
        content, status = read_content(root, path, max_bytes, {} if folder_cache is None else folder_cache)
    except FileNotFoundError:
        return MissingFile(task.path)
    except OSError as error:
        return _failed_note(root, path, f"it can't be read ({error.strerror or error})")
    age_ns = started - status.st_mtime_ns
    seen_ns = 0 if age_ns < _RACY_WINDOW_NS else status.st_mtime_ns
    created = getattr(status, "st_birthtime", None) or min(status.st_ctime, status.st_mtime)
    if content is None:
        reason = f"it is larger than {max_bytes / 2**20:g} MiB, so it is listed but not read"
        verdict = _large_note_privacy(root, path)
        return _name_only_note(path, status, seen_ns, created, reason, "skipped", verdict)
    digest = hashlib.sha256(content).hexdigest()
    if digest == task.known_hash:
        return UnchangedFile(task.path, status.st_size, seen_ns, status.st_mtime)
    try:
        return _parse_note(path, content, status, seen_ns, created, digest, pages, with_words)
    except Exception as error:  # Any parser failure affects only this note, which is listed.
        log.exception("%s could not be parsed", task.path)
        reason = f"it can't be parsed ({type(error).__name__}: {error})"
        return _name_only_note(path, status, seen_ns, created, reason, "failed", classify_privacy(content))


def read_content(
    root: Path, path: NotePath, max_bytes: int, folder_cache: FolderCache
) -> tuple[bytes | None, os.stat_result]:
    """Return a file's bytes (None if there are more than `max_bytes`) and status.

    Raises:
        OSError: The file can't be read or is a link, or its folder is a link that leaves the vault.
    """
    folder = path.folder
    if folder not in folder_cache:
        real_root, real_folder = os.path.realpath(root), os.path.realpath(root / folder)
        folder_cache[folder] = real_folder == real_root or real_folder.startswith(
            real_root.rstrip(os.sep) + os.sep
        )
    if not folder_cache[folder]:
        raise OSError(errno.ELOOP, "its folder is a link that leaves the vault")
    descriptor = os.open(f"{root}{os.sep}{path.text}", _OPEN_FLAGS)
    try:
        status = os.fstat(descriptor)
        if status.st_size > max_bytes:
            return None, status
        # Request one byte more than the size: a result of exactly that size proves the end of the file.
        content = os.read(descriptor, status.st_size + 1)
        while len(content) != status.st_size and len(content) <= max_bytes:
            if not (chunk := os.read(descriptor, _READ_CHUNK_BYTES)):
                break
            content += chunk
    finally:
        os.close(descriptor)
    return (content if len(content) <= max_bytes else None), status


def _parse_note(
    path: NotePath,
    content: bytes,
    status: os.stat_result,
    seen_ns: int,
    created: float,
    digest: str,
    pages: PageNames | None,
    with_words: bool,
) -> ExtractedNote:
    text = decode_lossy(content)
    parsed = scan(text) if with_words else scan_outline(text)
    # Judge the bytes: in the text, a replaced byte looks like a real U+FFFD.
    verdict = classify_privacy(content)
    problems = [parsed.properties_problem] if parsed.properties_problem else []
    if "\ufffd" in text and "\ufffd".encode() not in content:
        problems.insert(0, "it is not UTF-8; unreadable characters are shown as \ufffd")
    problem = _with_verdict("; ".join(problems), verdict) or None
    name, tags = path.name, parsed.tag_names
    created_property = stated_time(parsed.properties)
    title = parsed.properties.get("title")
    title = title.strip() if isinstance(title, str) and title.strip() else None
    aliases = parsed.aliases
    if pages is not None:
        page_title, page_aliases = stated_names(text[parsed.body_start :])
        page, title = pages.decode(name), title or page_title
        names = (*aliases, *page_aliases, *((title,) if title else ()))
        aliases = tuple(alias for alias in dict.fromkeys(names) if alias not in (name, page))
        title = title or page
    title = title or name
    # SQLite can't store a lone surrogate (from a JSON escape in the properties).
    note = (
        name,
        name_key(name),
        _strip_surrogates(title),
        _strip_surrogates(parsed.type),
        parsed.confidence,
        _json(tags) if tags else "[]",
        _json(dict(parsed.properties)) if parsed.properties else "{}",
        problem,
        "marked" if problem else None,
        int(verdict.hides),
        count_words(text[parsed.body_start :]),
        text.count("\n", 0, parsed.body_start) + 1,
    )
    heads = (
        segment(name if title == name else f"{name}\n{title}"),
        segment("\n".join(aliases)),
        segment("\n".join(heading.text for heading in parsed.headings)),
        segment("\n".join(tags)),
    )
    return ExtractedNote(
        path.text,
        len(content),
        seen_ns,
        status.st_mtime,
        created if created_property is None else created_property,
        digest,
        tuple(map(_strip_surrogates, aliases)),
        _strip_surrogates(parsed.id) if parsed.id else None,
        note,
        heads,
        segment(text) if with_words else None,
        links=tuple(_link_rows(parsed, text)),
        tags=tag_rows(tags),
        properties=_property_rows(parsed),
        headings=heading_rows(parsed.headings),
        tasks=task_rows(parsed.tasks),
        is_dated=created_property is not None,
    )


def stated_time(properties: Mapping[str, object]) -> float | None:
    """Return the Unix time in the property `created` or a similar one, or None if it has no valid date.

    A date without a time means midnight; a time without a time zone is local.
    """
    texts = {re.sub(r"[-_ ]+", " ", name.strip().casefold()): value for name, value in properties.items()}
    for name in _CREATED:
        value = texts.get(name)
        if not isinstance(value, str):
            continue
        try:
            # A year outside the system's range has no Unix time.
            return datetime.fromisoformat(value.strip()).timestamp()
        except (ValueError, OverflowError, OSError):
            continue
    return None


def _failed_note(root: Path, path: NotePath, reason: str) -> ExtractResult:
    try:
        status = (root / path.text).lstat()
    except FileNotFoundError:
        return MissingFile(path.text)
    except OSError:
        status = os.stat_result((0,) * 10)
    return _name_only_note(path, status, 0, status.st_mtime, reason, "failed", _UNREAD)


def _large_note_privacy(root: Path, path: NotePath) -> PrivacyVerdict:
    """Return the privacy of a note that is too large to index, judged by its beginning."""
    try:
        descriptor = os.open(f"{root}{os.sep}{path.text}", _OPEN_FLAGS)
        try:
            return classify_privacy(os.read(descriptor, HEAD_BYTES), complete=False)
        finally:
            os.close(descriptor)
    except OSError:
        return _UNREAD


def _with_verdict(problem: str, verdict: PrivacyVerdict) -> str:
    """Return a note's problem, with an explanation if the note is hidden because its privacy is unknown."""
    if verdict.privacy is not Privacy.UNKNOWN:
        return problem
    is_explained = "can't be read" in problem or "not UTF-8" in problem
    reason = problem if is_explained else f"{problem}; {verdict.reason}" if problem else verdict.reason
    return f"{reason.rstrip('.')}. Agents and other programs can't see it until that is fixed."


def _name_only_note(
    path: NotePath,
    status: os.stat_result,
    seen_ns: int,
    created: float,
    reason: str,
    kind: ProblemKind,
    verdict: PrivacyVerdict,
) -> ExtractedNote:
    """Return the rows for a note whose content is not indexed."""
    reason = _with_verdict(reason, verdict)
    private = int(verdict.hides)
    note = (path.name, name_key(path.name), path.name, "note", None, "[]", "{}", reason, kind, private, 0, 1)
    heads = (segment(path.name), "", "", "")
    size, modified = status.st_size, status.st_mtime
    return ExtractedNote(path.text, size, seen_ns, modified, created, "", (), None, note, heads, "")


def _link_rows(parsed: ParsedNote, text: str) -> list[Row]:
    """Return (target, target_key, link_key, type, confidence, note, embed, line, context, start, stop)."""
    rows: list[Row] = []
    typed: set[tuple[int, int]] = set()
    for relation in parsed.relations:
        typed.add((relation.link.span.start, relation.link.span.end))
        rows.append(_link_row(relation.link, relation, text))
    for link in parsed.links:
        if (link.span.start, link.span.end) not in typed:
            rows.append(_link_row(link, None, text))
    rows.sort(key=lambda row: (row[9], row[3]))
    return rows


def _link_row(link: Link, relation: Relation | None, text: str) -> Row:
    target = _strip_surrogates(link.target)
    key = target_key(target)
    context = _context(line_at(text, link.span.start))
    type_, confidence, note = LINKS_TO, None, None
    if relation:
        type_, confidence, note = relation.type, relation.confidence, relation.note
    return (
        target,
        key,
        link_key(key),
        _strip_surrogates(type_),
        confidence,
        _strip_surrogates(note) if note else None,
        int(link.embed),
        link.line,
        context,
        link.span.start,
        link.span.end,
    )


def _context(line: str) -> str:
    """Return the line, stripped and shortened to at most `MAX_CONTEXT_CHARS`."""
    bare = _strip_surrogates(line.strip())
    return bare if len(bare) <= MAX_CONTEXT_CHARS else bare[: MAX_CONTEXT_CHARS - 1].rstrip() + "…"


def tag_rows(tags: Iterable[str]) -> tuple[Row, ...]:
    """Return (key, name, implied) for each tag and its ancestors."""
    rows: dict[str, Row] = {}
    names = [_strip_surrogates(tag) for tag in tags]
    for name in names:
        key = name_key(name)
        rows[key] = (key, name, 0)
    for name in names:
        if "/" not in name:
            continue
        parts = name.split("/")
        for end in range(len(parts) - 1, 0, -1):
            parent = "/".join(parts[:end])
            if parent:
                rows.setdefault(name_key(parent), (name_key(parent), parent, 1))
    return tuple(rows.values())


def heading_rows(headings: Iterable[Heading]) -> tuple[Row, ...]:
    """Return (line, level, text) for each heading."""
    return tuple({h.line: (h.line, h.level, _strip_surrogates(h.text)) for h in headings}.values())


def task_rows(tasks: Iterable[TaskBox]) -> tuple[Row, ...]:
    """Return (line, done, text) for each task."""
    return tuple({t.line: (t.line, int(t.done), _strip_surrogates(t.text)) for t in tasks}.values())


def _property_rows(parsed: ParsedNote) -> tuple[Row, ...]:
    """Return (key, name, value as JSON) for each property."""
    rows: dict[str, Row] = {}
    for key_text, value in parsed.properties.items():
        name = _strip_surrogates(str(key_text))
        key = name_key(name)
        rows[key] = (key, name, _json(value))
    return tuple(rows.values())


def _strip_surrogates(text: str) -> str:
    """Return the text with a question mark in place of each lone surrogate, which UTF-8 can't encode."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
