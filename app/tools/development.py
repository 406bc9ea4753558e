"""Category development: patch, write and compare files; `shell` and `git` have their own modules."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field

from app.errors import ConflictError, InvalidParametersError, NotFoundError, PermissionDeniedError
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import ContentHash, MarkdownText
from app.toolkit.file_view import FileView, ask_to_read, resolve_path
from app.toolkit.proposal import EffectProposal, Proposal
from app.toolkit.result import ToolResult
from app.toolkit.services import DevelopmentContext
from app.toolkit.tool import tool
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Update, after_of, content_hash
from app.vault.diff import compare
from app.vault.markdown.patch import apply_patch
from app.vault.markdown.text import decode
from app.vault.path import NotePath
from app.vault.unified_diff import FilePatch, split_patch, unified_diff

_MAX_DIFF_CHARS = 200_000

VaultFile = Annotated[str, Field(min_length=1, max_length=1000)]


class FilesPatched(ToolResult):
    """Files that a patch changes; with `dry_run`, the patch was only checked."""

    files: list[str]
    dry_run: bool
    diff: str


class FileWritten(ToolResult):
    """A written file; `hash` is the SHA-256 of its bytes."""

    path: str
    created: bool
    hash: str


class Difference(ToolResult):
    """The difference between two files as a unified diff; empty if they are equal."""

    diff: str
    added: int
    removed: int


@tool(category="development", always_asks=True)
async def patch(
    context: DevelopmentContext,
    patch: Annotated[str, Field(min_length=1, max_length=1024 * 1024)],
    files: Annotated[list[VaultFile], Field(min_length=1, max_length=200)],
    dry_run: bool = False,
) -> Proposal[FilesPatched] | FilesPatched:
    """Apply a unified diff to files of the vault. Changes nothing unless every context line matches.

    Args:
        patch: The diff, with `---` and `+++` lines for each file; they are optional for a single file.
        files: The files that may change; a patch that changes another file is rejected.
        dry_run: Only check whether the patch applies.
    """
    changes = await asyncio.to_thread(_apply_patches, context, patch, files)
    change_set = ChangeSet.of(*changes, summary=f"Patch {pluralize(len(changes), 'file')}")

    def report(committed: ChangeSet) -> FilesPatched:
        shown_diff = "".join(_change_diff(change) for change in committed.changes)[:_MAX_DIFF_CHARS]
        names = [str(change.path) for change in committed.changes]
        message = f"The patch applies to {', '.join(names)}." if dry_run else f"Patched {', '.join(names)}."
        return FilesPatched(files=names, dry_run=dry_run, diff=shown_diff, message=message)

    return report(change_set) if dry_run else context.propose(change_set, report)


@tool(
    category="development",
    examples=(
        "write the file {path} with {content}",
        "save the text {content} in the file {path}",
        "overwrite the file {path} with {content}",
    ),
    usage_rule="For notes use create_note, edit_note and update_note; file_write is for other files.",
    always_asks=True,
)
async def file_write(
    context: DevelopmentContext,
    path: VaultFile,
    content: MarkdownText,
    expected_hash: ContentHash | None = None,
) -> Proposal[FileWritten]:
    """Create or overwrite a text file of the vault.

    Args:
        path: The file, relative to the vault, with its suffix.
        content: The whole text of the file.
        expected_hash: Write only if the existing file has this hash.
    """
    target = _parse_target(path)
    change = await asyncio.to_thread(_plan_write, context, target, content.encode(), expected_hash)
    is_new = isinstance(change, Create)
    message = f"{'Created' if is_new else 'Wrote'} {change.path}."

    def report(committed: ChangeSet) -> FileWritten:
        new_content = next(filter(None, map(after_of, committed.changes)), content.encode())
        return FileWritten(
            path=str(change.path), created=is_new, hash=content_hash(new_content), message=message
        )

    return context.propose(ChangeSet.of(change, summary=f"Write {change.path}"), report)


@tool(
    category="development",
    examples=(
        "diff {path} and {other}",
        "compare the files {path} and {other}",
        "show the difference between the file {path} and {other}",
    ),
)
async def diff(
    context: DevelopmentContext,
    path: Annotated[str, Field(min_length=1, max_length=4096)],
    other: Annotated[str, Field(min_length=1, max_length=4096)],
) -> Difference | EffectProposal[Difference]:
    """Compare two text files, line by line.

    Args:
        path: The first file, in the vault or outside.
        other: The second file.
    """
    locations = [await resolve_path(context, text) for text in (path, other)]

    def compare_files() -> Difference:
        views = [FileView(context, location) for location in locations]
        comparison = compare(*(view.read(view.location.name) for view in views))
        text = unified_diff(comparison, path, other)[:_MAX_DIFF_CHARS]
        counts = f"{pluralize(comparison.added, 'line')} added, {comparison.removed} removed"
        verdict = f"differ: {counts}" if comparison.hunks else "are identical"
        difference = Difference(
            diff=text,
            added=comparison.added,
            removed=comparison.removed,
            message=f"{path} and {other} {verdict}.",
        )
        return difference.from_notes(view.is_from_web(view.location.name) for view in views)

    if any(location.is_outside for location in locations):
        return ask_to_read(context, f"Compare {path} and {other}", *locations, read=compare_files)
    return await asyncio.to_thread(compare_files)


def _parse_target(text: str) -> NotePath:
    """Return the path of a file to write.

    Raises:
        InvalidPathError: it is not a valid path in the vault.
        PermissionDeniedError: it is hidden.
    """
    path = NotePath.parse(text)
    if path.is_hidden:
        raise PermissionDeniedError(f"{path} belongs to a program's own data.", path=text)
    return path


def _plan_write(
    context: DevelopmentContext, target: NotePath, content: bytes, expected_hash: str | None
) -> Create | Update:
    vault = context.vault
    existing = vault.existing_path(target)
    if existing is None:
        if expected_hash is not None:
            raise NotFoundError(f"There is no file {target}, so its hash can't match.", path=str(target))
        return Create(vault.disk_spelling(target), content)
    before = vault.read(existing)
    if expected_hash not in (None, content_hash(before)):
        raise ConflictError(
            f"{existing} has changed; nothing was written.",
            path=str(existing),
            expected_hash=expected_hash,
            current_hash=content_hash(before),
        )
    return Update(existing, before, content)


def _apply_patches(context: DevelopmentContext, text: str, files: list[str]) -> list[FileChange]:
    """Return the changes of a patch.

    Raises:
        InvalidParametersError: the patch is malformed, does not name its file, or renames a file.
        PermissionDeniedError: it touches a file that the call does not name, or a hidden one.
        ConflictError: it does not apply, creates a file that exists, or deletes only some of a file's lines.
        NotFoundError: it changes a file that does not exist.
        LimitError, StorageError: a file is too large, is not UTF-8 or can't be read.
    """
    allowed_paths = {path.key: path for path in map(_parse_target, files)}
    file_patches = split_patch(text)
    if not file_patches:
        raise InvalidParametersError("The patch has no hunk: `@@ -line,count +line,count @@`.")
    return [_patch_file(context, file_patch, allowed_paths) for file_patch in file_patches]


def _patch_file(
    context: DevelopmentContext, file_patch: FilePatch, allowed_paths: dict[str, NotePath]
) -> FileChange:
    if file_patch.old_name == file_patch.new_name == "" and len(allowed_paths) > 1:
        raise InvalidParametersError("The patch does not name the file to change: `--- name`, `+++ name`.")
    text = file_patch.new_name if file_patch.new_name is not None else file_patch.old_name
    target = _parse_target(text) if text else next(iter(allowed_paths.values()))
    if target.key not in allowed_paths:
        raise PermissionDeniedError(
            f"The patch touches {target}, which the call does not name in `files`.",
            path=str(target),
            files=[str(path) for path in allowed_paths.values()],
        )
    if (
        file_patch.old_name is not None
        and file_patch.new_name is not None
        and file_patch.old_name != file_patch.new_name
    ):
        raise InvalidParametersError(
            f"The patch renames {file_patch.old_name}: use move_note for that.", path=file_patch.old_name
        )
    if file_patch.old_name is None:
        if context.vault.existing_path(target) is not None:
            raise ConflictError(f"{target} already exists.", path=str(target))
        return Create(context.vault.disk_spelling(target), apply_patch("", file_patch.hunks).encode())
    before = context.vault.read(target)
    after = apply_patch(decode(before), file_patch.hunks).encode()
    if file_patch.new_name is not None:
        return Update(target, before, after)
    if after:
        raise ConflictError(f"The patch deletes {target}, but not all of its lines.", path=str(target))
    return Delete(target, before)


def _change_diff(change: FileChange) -> str:
    name = str(change.path)
    match change:
        case Create():
            return unified_diff(compare(b"", change.after), "/dev/null", f"b/{name}")
        case Delete():
            return unified_diff(compare(change.before, b""), f"a/{name}", "/dev/null")
        case _:
            return unified_diff(compare(change.before, change.after), f"a/{name}", f"b/{name}")
