"""A request for approval as terminal text: the caller, the reason, and every changed line.

It is built from the proposal's own bytes. Hidden characters are named, and control sequences in a
note never reach the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from app.permissions.approval import ApprovalRequest, Effect
from app.permissions.partial_approval import ApprovalDraft, FileDraft, SelectionState
from app.permissions.pluralize import pluralize
from app.permissions.request_labels import (
    KIND_NAMES,
    caller_label,
    change_name,
    format_extent,
    request_title,
    request_warnings,
)
from app.vault.changes import Create, Delete, Move
from app.vault.diff import Diff, Hunk
from app.vault.diff_words import Span, changed_spans, pair_lines
from app.vault.escaped_line import CHIP_SIGN, EscapedLine, escape_line
from app.vault.invisible_chars import escape_hidden

_CONTEXT_LINES = 3
_MAX_NAMED_NOTES = 12
_REMOVED_STYLE, _ADDED_STYLE = "red", "green"
_CHANGED_STYLE = "bold reverse"
_LABEL_STYLE = "bold yellow"


def format_request(draft: ApprovalDraft) -> Iterator[Text]:
    """Yield the lines of a request."""
    request = draft.request
    yield Text()
    title, caller = request_title(request).english, caller_label(request.caller).english
    yield Text.assemble((title, "bold"), (f"  ({caller})", "dim"))
    yield Text(f"Reason: {escape_hidden(request.reason)}.", style="dim")
    yield from _consequences(request)
    if request.caller.claim:
        yield Text.assemble(
            ("Description by the caller (unverified): ", "dim"),
            (escape_hidden(request.caller.claim), "italic"),
        )
    if isinstance(request.proposal, Effect):
        yield from format_effect(request.proposal)
        return
    for number, file in enumerate(draft.files, 1):
        yield from format_file_change(file, number, len(draft.files))


def format_effect(proposal: Effect) -> Iterator[Text]:
    """Yield the lines of an effect outside the notes: its full text and arguments."""
    yield Text()
    for line in proposal.text.split("\n"):
        yield Text("  ") + format_line(line.encode("utf-8", "surrogatepass"))
    for name, value in proposal.arguments:
        first, *rest = value.split("\n")
        head = (f"  {escape_hidden(name)}: ", "dim")
        yield Text.assemble(head, format_line(first.encode("utf-8", "surrogatepass")))
        for line in rest:
            yield Text("    ") + format_line(line.encode("utf-8", "surrogatepass"))


def format_file_change(file: FileDraft, number: int, count: int) -> Iterator[Text]:
    """Yield the lines of one file of a change: its operation and, unless it is left out, its diff."""
    left_out = file.selection_state is SelectionState.NONE
    position = f"{number} of {count}  " if count > 1 else ""
    kind = KIND_NAMES[type(file.change)].english
    head = Text(f"{position}{kind}: {change_name(file.change)}", style="bold")
    if file.is_edited:
        head.append("  (edited by you)", style="dim")
    if left_out:
        head.append("  (left out)", style="yellow")
    yield Text()
    yield head
    if left_out:
        return
    diff = file.compare()
    if isinstance(file.change, Move) and not diff.hunks:
        yield Text("  The text is unchanged.", style="dim")
    if isinstance(file.change, Create | Delete) and not diff.hunks:
        yield Text("  The file is empty.", style="dim")
    yield from format_diff(diff)


def format_diff(diff: Diff) -> Iterator[Text]:
    """Yield a diff in one column: numbered lines with three lines of context and highlighted words."""
    width = len(str(max(len(diff.before), len(diff.after), 1)))
    position = 0
    for index, hunk in enumerate(diff.hunks):
        is_last = index + 1 == len(diff.hunks)
        following = len(diff.before) if is_last else diff.hunks[index + 1].before_start
        start = max(position, hunk.before_start - _CONTEXT_LINES)
        if start > position:
            yield Text(f"{'⋯':>{width}}", style="dim")
        shift = hunk.after_start - hunk.before_start
        for line in range(start, hunk.before_start):
            yield _diff_row(width, line + shift, " ", format_line(diff.before[line]), "")
        yield from _hunk_rows(diff, hunk, width)
        position = min(following, hunk.before_end + _CONTEXT_LINES)
        for line in range(hunk.before_end, position):
            after_line = line + hunk.after_end - hunk.before_end
            yield _diff_row(width, after_line, " ", format_line(diff.before[line]), "")
    if diff.hunks and position < len(diff.before):
        yield Text(f"{'⋯':>{width}}", style="dim")


def format_line(
    line: bytes, spans: Sequence[Span] = (), *, is_first: bool = False, is_last: bool = False
) -> Text:
    """Return a line for display with `spans` highlighted and hidden characters named in ⟨⟩."""
    escaped = escape_line(line, is_first=is_first, is_last=is_last)
    text = Text(escaped.text)
    for start, end in spans:
        text.stylize(_CHANGED_STYLE, escaped.displayed_index(start), escaped.displayed_index(end))
    for start, end, kind in escaped.signs:
        text.stylize(_LABEL_STYLE if kind == CHIP_SIGN else "dim", start, end)
    return _with_brackets(text, escaped)


def _with_brackets(text: Text, escaped: EscapedLine) -> Text:
    """Put labels in brackets, so that they can't be mistaken for note text on a terminal without colors."""
    parts = []
    position = 0
    for start, end, kind in escaped.signs:
        if kind == CHIP_SIGN:
            label = (Text("⟨", _LABEL_STYLE), text[start:end], Text("⟩", _LABEL_STYLE))
            parts += [text[position:start], *label]
            position = end
    return Text.assemble(*parts, text[position:]) if parts else text


def _hunk_rows(diff: Diff, hunk: Hunk, width: int) -> Iterator[Text]:
    before = diff.before[hunk.before_start : hunk.before_end]
    after = diff.after[hunk.after_start : hunk.after_end]
    before_texts, after_texts = (
        [_decode_line(line) for line in before],
        [_decode_line(line) for line in after],
    )
    removed_spans: dict[int, tuple[Span, ...]] = {}
    added_spans: dict[int, tuple[Span, ...]] = {}
    for before_index, after_index in pair_lines(before_texts, after_texts):
        if before_index is not None and after_index is not None:
            removed_spans[before_index], added_spans[after_index] = changed_spans(
                before_texts[before_index], after_texts[after_index]
            )
    for index, line in enumerate(before):
        number = hunk.before_start + index
        ends = {"is_first": number == 0, "is_last": number == len(diff.before) - 1}
        yield _diff_row(
            width, number, "-", format_line(line, removed_spans.get(index, ()), **ends), _REMOVED_STYLE
        )
    for index, line in enumerate(after):
        number = hunk.after_start + index
        ends = {"is_first": number == 0, "is_last": number == len(diff.after) - 1}
        yield _diff_row(
            width, number, "+", format_line(line, added_spans.get(index, ()), **ends), _ADDED_STYLE
        )


def _diff_row(width: int, number: int, mark: str, line: Text, style: str) -> Text:
    body = Text(f"{mark} ") + line
    if style:
        body.stylize_before(style)
    return Text.assemble((f"{number + 1:>{width}} ", "dim"), body)


def _decode_line(line: bytes) -> str:
    """Decode a line as `escape_line` does, without the newline, so that positions match."""
    text = line.decode("utf-8", "surrogateescape")
    return text[:-1] if text.endswith("\n") else text


def _consequences(request: ApprovalRequest) -> Iterator[Text]:
    """Yield the consequences beyond the changed lines."""
    if extent := format_extent(request):
        yield Text(f"{extent.english}.", style="dim")
    for warning in request_warnings(request):
        yield Text(warning.english, style="yellow")
    if links := request.scope.backlinks:
        yield Text(
            f"{pluralize(len(links), 'note')} will have unresolved links after this deletion: "
            f"{_list_notes(links)}.",
            style="yellow",
        )
    if rewrites := request.rewrites:
        yield Text(f"Links are updated in {pluralize(len(rewrites), 'note')}: {_list_notes(rewrites)}.")
    for folder in request.scope.outside:
        yield Text(f"Outside the vault: {escape_hidden(folder)}", style="yellow")


def _list_notes(paths: Sequence[object]) -> str:
    names = [escape_hidden(str(path)) for path in paths[:_MAX_NAMED_NOTES]]
    remainder = f" and {len(paths) - _MAX_NAMED_NOTES} more" if len(paths) > _MAX_NAMED_NOTES else ""
    return ", ".join(names) + remainder
