"""Format the outcome of a tool call as Markdown with wikilinks, for the agent panel."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from app.agent.answered_call import AnsweredCall
from app.agent.generic_formatting import format_details, link_or_path, wikilink
from app.agent.node_formatting import NODE_FORMATTERS
from app.errors import TimeoutExpiredError
from app.permissions.pluralize import pluralize
from app.toolkit.outcome import ToolOutcome
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.text import bullet_list
from app.vault.path import NotePath

Result = Mapping[str, Any]

_MAX_LIST_ITEMS = 20
_MAX_TEXT_CHARS = 2400
_MAX_CLOSEST_PASSAGES = 2
_TOOLS_THAT_ACT = frozenset(("send_message", "delegate"))
"""Tools that have effects before they return, so that one that timed out may have done its work."""


def format_outcome(call: AnsweredCall, outcome: ToolOutcome, *, has_changed: bool = False) -> str:
    """Return the outcome of `call` for the user: its results or changes, or the reason for its failure.

    Args:
        call: The call.
        outcome: Its outcome.
        has_changed: Whether the request has already changed something.
    """
    if not outcome.success:
        return _failure(call, outcome, has_changed=has_changed)
    if outcome.result.get("changed_by_user"):
        return _format_done(outcome)
    formatter = _BY_INTENT.get(call.intent) or _BY_TOOL.get(call.tool)
    text = formatter(outcome.result, call) if formatter else ""
    if not text and call.tool == "undo":
        return _format_done(outcome)  # the numbers of the changes mean nothing to the user
    return text or _format_generic(outcome)


def _failure(call: AnsweredCall, outcome: ToolOutcome, *, has_changed: bool) -> str:
    if outcome.error is None:
        rest = "The changes before it were kept." if has_changed else "Nothing was changed."
        reason = f" Your reason: {outcome.words}" if outcome.words else ""
        return f"You denied this change. {rest}{reason}"
    if outcome.error.get("type") == TimeoutExpiredError.type and "tool" in outcome.error:
        # The error's message names the tool.
        may_have_acted = call.tool in _TOOLS_THAT_ACT
        safe = "The changes before it were kept." if has_changed else "Nothing was changed."
        parts = [
            "This took too long and was stopped.",
            *([safe] if has_changed or not may_have_acted else []),
            "Check what was done before you try again." if may_have_acted else "Try again in a moment.",
        ]
        return " ".join(parts)
    text = str(outcome.error.get("message", "")) or "That did not work."
    suggestions = outcome.error.get("candidates") or outcome.error.get("suggestions")
    if isinstance(suggestions, list | tuple) and suggestions:
        # The names of headings are no notes.
        shown = str if "heading" in outcome.error else wikilink
        text += "\n\nDid you mean one of these?\n" + bullet_list(shown(str(name)) for name in suggestions[:5])
    return text


def _format_generic(outcome: ToolOutcome) -> str:
    details = format_details(outcome.result, outcome.message)
    return f"{_format_done(outcome)}\n\n{details}" if details else _format_done(outcome)


def _format_done(outcome: ToolOutcome) -> str:
    text = outcome.message or "Done."
    return f"{text} To undo this, say “undo”." if outcome.commit is not None else text


def _count_and_list(items: Iterable[str], total: int, singular: str, plural: str, none: str) -> str:
    """Return a sentence with the count, then a list of at most `_MAX_LIST_ITEMS` items."""
    lines = list(items)
    if not lines:
        return none
    head = f"{pluralize(total, singular, plural)}:"
    remainder = f"\n\n… and {total - _MAX_LIST_ITEMS} more." if total > _MAX_LIST_ITEMS else ""
    return f"{head}\n\n{bullet_list(lines[:_MAX_LIST_ITEMS])}{remainder}"


def _read(result: Result, call: AnsweredCall) -> str:
    text = strip_properties(str(result["text"])).strip()
    if not text:
        properties = read_frontmatter(str(result["text"])).properties
        if not properties:
            return f"{wikilink(result['path'])} is empty."
        lines = bullet_list(f"**{key}**: {_value(value)}" for key, value in properties.items())
        return f"{wikilink(result['path'])} has properties but no text:\n\n{lines}"
    cut = text[:_MAX_TEXT_CHARS]
    if len(text) > len(cut):
        cut = cut.rpartition("\n")[0] or cut
    quoted = "\n".join(f"> {line}".rstrip() for line in cut.splitlines())
    remainder = f"\n\n… The rest is in {wikilink(result['path'])}." if len(text) > len(cut) else ""
    return (
        f"{wikilink(result['path'])}, {pluralize(int(result['total_lines']), 'line')}:\n\n{quoted}{remainder}"
    )


def strip_properties(text: str) -> str:
    """Return a note's text without its frontmatter."""
    lines = text.lstrip("\ufeff").splitlines(keepends=True)
    if lines and lines[0].strip() == "---":
        for index, line in enumerate(lines[1:], 1):
            if line.strip() == "---":
                return "".join(lines[index + 1 :])
    return text


def _hits(result: Result, call: AnsweredCall) -> str:
    query = str(call.arguments.get("query", ""))
    lines = []
    for hit in result["hits"]:
        first_line = [" ".join(str(line["text"]).split()) for line in hit["lines"][:1]]
        lines.append(
            wikilink(hit["path"]) + (f": {first_line[0][:160]}" if first_line and first_line[0] else "")
        )
    if set(query) & set(":[") and not result["hits"]:
        return "No notes match."
    hint = " Try other words, or “search by meaning for …”." if call.intent == "find" else ""
    return _count_and_list(
        lines, int(result["total"]), "note", "notes", f"I found nothing for {_quote_query(query)}.{hint}"
    )


def shown_passages(result: Result) -> list[Mapping[str, Any]]:
    """Return the passages of `find_passages` to show, without weak ones; only a few if none is an answer."""
    passages = [passage for passage in result["passages"] if not passage["weak"]]
    return passages if result["answered"] else passages[:_MAX_CLOSEST_PASSAGES]


def _passages(result: Result, call: AnsweredCall) -> str:
    passages = "\n\n".join(_quoted(passage) for passage in shown_passages(result))
    if result["answered"]:
        return passages
    match call.arguments.get("notes"):
        case [name]:
            where = wikilink(str(name))
        case [_, *_]:
            where = "these notes"
        case _:
            where = "your notes"
    if not passages:
        return f"**Not in {where}**: I found no passage that answers this question."
    heading = f"**Perhaps not in {where}**: no passage clearly answers this question."
    return f"{heading} The closest passages are:\n\n{passages}"


def _quoted(passage: Mapping[str, Any]) -> str:
    """Return a passage as a quotation with a link to its exact position."""
    source = str(passage["source"])
    # A single row of a table does not render as a table.
    words = str(passage["text"]) if source.lstrip().startswith("|") else source
    lines = "\n".join(f"> {line.strip()}" for line in words.splitlines())
    name = NotePath.on_disk(passage["path"]).name
    return f"{lines}\n>\n> — {str(passage['citation'])[:-2]}|{name}]]"


def _quote_query(query: str) -> str:
    return query if query.startswith('"') else f"“{query}”"


def _format_names(result: Result, call: AnsweredCall) -> str:
    return _count_and_list(
        map(wikilink, result["notes"]), int(result["total"]), "note", "notes", "No notes match."
    )


def _listing(result: Result, call: AnsweredCall) -> str:
    paths = (wikilink(note["path"]) for note in result["notes"])
    scope = f" in {call.arguments['folder']}" if call.arguments.get("folder") else ""
    return _count_and_list(
        paths, int(result["total"]), f"note{scope}", f"notes{scope}", f"There are no notes{scope}."
    )


def _related(result: Result, call: AnsweredCall) -> str:
    lines = [
        f"{wikilink(note['path'])}: "
        + ", ".join(_relation(str(reason["relationship"]), reason["score"]) for reason in note["reasons"])
        for note in result["related"]
    ]
    name = wikilink(str(call.arguments["name"]))
    return _count_and_list(
        lines,
        len(lines),
        f"note is related to {name}",
        f"notes are related to {name}",
        f"I found nothing related to {name}.",
    )


def _relation(kind: str, score: float) -> str:
    labels = {"BACKLINK_FROM": "links to it", "FORWARDLINK_TO": "is linked from it"}
    if kind.startswith("SHARED_TAG"):
        return f"shares the tag #{kind.partition(':')[2]}"
    return labels.get(kind, f"similar in meaning ({score:.2f})")


def _tags(result: Result, call: AnsweredCall) -> str:
    tags = sorted(result["tags"], key=lambda tag: (-tag["count"], tag["tag"]))
    lines = (f"#{tag['tag']}: {tag['count']}" for tag in tags)
    return _count_and_list(lines, len(tags), "tag", "tags", "There are no tags yet.")


def _vault(result: Result, call: AnsweredCall) -> str:
    lines = [
        pluralize(result["notes"], "note"),
        pluralize(result["attachments"], "other file"),
        pluralize(result["links"], "link"),
        pluralize(result["unresolved"], "unresolved link"),
        pluralize(result["tags"], "tag"),
        f"{pluralize(result['orphans'], 'note')} without links",
    ]
    if result["skipped"] or result["failed"]:
        lines.append(f"{pluralize(result['skipped'], 'file')} skipped, {result['failed']} unreadable")
        lines += [f"{problem['path']}: {problem['reason']}" for problem in result["problems"][:5]]
    folders = result["largest_folders"]
    examples = {
        "Largest folders": [f"{folder['name']} ({folder['count']})" for folder in folders],
        "Most used tags": [f"#{tag['tag']}" for tag in result["most_used_tags"]],
        "Most linked notes": [wikilink(path) for path in result["most_linked"]],
    }
    lines += [f"{title}: {', '.join(names)}" for title, names in examples.items() if names]
    return "This vault contains:\n\n" + bullet_list(lines)


def _backlinks(result: Result, call: AnsweredCall) -> str:
    name, sources = wikilink(result["path"]), result["backlinks"]
    return _count_and_list(
        map(wikilink, sources),
        len(sources),
        f"note links to {name}",
        f"notes link to {name}",
        f"Nothing links to {name}.",
    )


def _outgoing(result: Result, call: AnsweredCall) -> str:
    name, targets = wikilink(result["path"]), result["forward_links"]
    text = _count_and_list(
        map(wikilink, targets),
        len(targets),
        f"link from {name}",
        f"links from {name}",
        f"{name} links to no note.",
    )
    unresolved = [f"[[{target}]]" for target in result["unresolved_links"]]
    return text + (f"\n\nNo note yet: {', '.join(unresolved[:_MAX_LIST_ITEMS])}" if unresolved else "")


def _note_tags(result: Result, call: AnsweredCall) -> str:
    tags = " ".join(f"#{tag}" for tag in result["tags"])
    return f"{wikilink(result['path'])}: {tags}" if tags else f"{wikilink(result['path'])} has no tags."


def _details(result: Result, call: AnsweredCall) -> str:
    lines = [f"**{key}**: {_value(value)}" for key, value in result["properties"].items()]
    created, modified = _format_time(result["created"]), _format_time(result["modified"])
    size = pluralize(int(result["size"]), "byte")
    linking = pluralize(len(result["backlinks"]), "note links", "notes link")
    lines += [
        f"Created on {created}, changed on {modified}, {size}",
        f"{linking} to it; it links to {len(result['forward_links'])}",
    ]
    if result["problem"]:
        lines.append(f"Problem: {result['problem']}")
    return f"{wikilink(result['path'])}\n\n{bullet_list(lines)}"


def _fact(result: Result, call: AnsweredCall) -> str:
    """Return a property, the word count, the size or a time of a note as a sentence."""
    name, about = wikilink(result["path"]), str(call.arguments["about"])
    match about:
        case "created":
            return f"{name} was created on {_format_time(result['created'])}."
        case "modified":
            return f"{name} was last changed on {_format_time(result['modified'])}."
        case "words":
            return f"{name} has {pluralize(int(result['word_count']), 'word')}."
        case "size":
            sizes = pluralize(int(result["word_count"]), "word"), pluralize(int(result["size"]), "byte")
            return f"{name} has {sizes[0]} and {sizes[1]}."
    key = property_key(result, about)
    if not key:
        return f"{name} has no property “{about}”.\n\n{_details(result, call)}"
    return f"{name}, {key}: {_value(result['properties'][key])}"


def property_key(result: Result, about: str) -> str:
    """Return the property named `about` in a note's details, as it is spelled there; empty without it."""
    return next((key for key in result.get("properties", ()) if key.casefold() == about.casefold()), "")


def _value(value: object) -> str:
    """Return a property's value as the note spells it, a list without brackets; empty without a value."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list() | tuple():
            return ", ".join(map(_value, value))
        case Mapping():
            # YAML reads the placeholder "{{date}}" of a template as nested mappings without values.
            items = (f"{_value(key)}: {_value(item)}".removesuffix(": ") for key, item in value.items())
            return f"{{{', '.join(items)}}}"
        case _:
            return str(value)


def _format_time(seconds: float) -> str:
    """Return a time, or only its date at midnight: a date in a note's properties has no time."""
    if not seconds:
        return "an unknown date"
    local = time.localtime(seconds)
    is_date = (local.tm_hour, local.tm_min, local.tm_sec) == (0, 0, 0)
    return time.strftime("%Y-%m-%d" if is_date else "%Y-%m-%d %H:%M", local)


def _versions(result: Result, call: AnsweredCall) -> str:
    lines = [
        f"{_format_time(version['time'])}, {version['author']}: {version['summary'] or 'changed'}"
        for version in result["versions"]
    ]
    name = wikilink(str(call.arguments["name"]))
    text = _count_and_list(
        lines,
        len(lines),
        f"version of {name}",
        f"versions of {name}",
        f"{name} has not been changed in Scriptorium yet, so there are no older versions.",
    )
    return text + ("\n\nOpen its history to compare or restore versions." if lines else "")


def _mentions(result: Result, call: AnsweredCall) -> str:
    lines = [
        f"{wikilink(mention['path'])}, line {mention['line']}: {' '.join(mention['text'].split())[:160]}"
        for mention in result["mentions"]
    ]
    name = wikilink(str(call.arguments["name"]))
    return _count_and_list(
        lines,
        len(lines),
        f"unlinked mention of {name}",
        f"unlinked mentions of {name}",
        f"Every mention of {name} is already a link.",
    )


def _deleted(result: Result, call: AnsweredCall) -> str:
    text = f"{result['path']} is in the vault's trash. Say “undo” to restore it."
    if links := result["backlinks"]:
        text += "\n\nThese notes still link to it:\n\n" + bullet_list(map(wikilink, links[:_MAX_LIST_ITEMS]))
    return text


def _moved(result: Result, call: AnsweredCall) -> str:
    link = wikilink(result["new_path"])
    before, after = (NotePath.on_disk(str(result[name])).folder for name in ("path", "new_path"))
    where = f"in the folder {after}" if after else "at the top of the vault"
    moved = f"It is now {link}." if after == before else f"{link} is now {where}."
    return f"{moved} To undo this, say “undo”.{_updates(result)}"


def _moved_folder(result: Result, call: AnsweredCall) -> str:
    count, old, new = int(result["files"]), result["folder"], result["new_folder"]
    text = f"Moved {pluralize(count, 'file')} from “{old}” to “{new}”. To undo this, say “undo”."
    if remaining := int(result["remaining"] or 0):
        stay = pluralize(remaining, "hidden or excluded file stays", "hidden or excluded files stay")
        text += f"\n\n{stay} in “{old}”."
    return text + _updates(result)


def _renamed_heading(result: Result, call: AnsweredCall) -> str:
    old, new, note = result["heading"], result["new_heading"], wikilink(result["path"])
    text = f"Renamed the heading “{old}” of {note} to “{new}”. To undo this, say “undo”."
    return text + _updates(result)


def _renamed_property(result: Result, call: AnsweredCall) -> str:
    paths, names = result["notes"], f"{result['key']} to {result['new_key']}"
    count = pluralize(len(paths), "note")
    text = f"Renamed the property {names} in {count}. To undo this, say “undo”.\n\n"
    text += bullet_list(map(wikilink, paths[:_MAX_LIST_ITEMS]))
    if len(paths) > _MAX_LIST_ITEMS:
        text += f"\n\n… and {len(paths) - _MAX_LIST_ITEMS} more."
    return text + _unchanged(result)


def _updates(result: Result) -> str:
    """Return paragraphs on the notes with updated links, and on those that are left out."""
    count = len(result["rewritten"])
    text = f"\n\nUpdated links in {pluralize(count, 'note')}." if count else ""
    return text + _unchanged(result)


def _unchanged(result: Result) -> str:
    items = [*map(str, result["left_out"][:_MAX_LIST_ITEMS])]
    return f"\n\nUnchanged:\n\n{bullet_list(items)}" if items else ""


def _batch(result: Result, call: AnsweredCall) -> str:
    notes = result["notes"]
    text = (
        f"{pluralize(len(notes), 'note')} changed. To undo this, say “undo”."
        if notes
        else "Nothing to change."
    )
    if skipped := result["left_out"]:
        text += f"\n\nSkipped:\n\n{bullet_list(skipped[:_MAX_LIST_ITEMS])}"
    return text


def _unresolved(result: Result, call: AnsweredCall) -> str:
    lines = [f"[[{link['name']}]]: {pluralize(int(link['links']), 'link')}" for link in result["links"]]
    return _count_and_list(
        lines, int(result["total"]), "unresolved link", "unresolved links", "Every link resolves to a note."
    )


def _directory(result: Result, call: AnsweredCall) -> str:
    folders = [f"{entry['path']}/" for entry in result["entries"] if entry["kind"] == "folder"]
    files = [link_or_path(str(entry["path"])) for entry in result["entries"] if entry["kind"] != "folder"]
    names = [*folders, *files]
    return _count_and_list(
        names, len(names), "file or folder", "files and folders", "There are no files and folders."
    )


def _duplicates(result: Result, call: AnsweredCall) -> str:
    lines = [
        f"{wikilink(pair['first'])} and {wikilink(pair['second'])}: {pair['words']:.0%} of the words"
        for pair in result["pairs"]
    ]
    return _count_and_list(
        lines,
        int(result["total"]),
        "pair of near-duplicates",
        "pairs of near-duplicates",
        "No two notes are near-duplicates.",
    )


def _undone(result: Result, call: AnsweredCall) -> str:
    return _changed_files(
        result,
        ("removed", "created ", "removed"),
        ("moved_back", "", "moved back"),
        ("restored", "", "restored"),
    )


def _redone(result: Result, call: AnsweredCall) -> str:
    """Return what a redo did: the undo of an undo removes the files that the undo had restored."""
    is_creation = call.arguments.get("redone") == "create_note"
    return _changed_files(
        result,
        ("removed", "", "deleted again"),
        ("moved_back", "", "moved again"),
        ("restored", "", "created again" if is_creation else "changed again"),
    )


def _changed_files(result: Result, *kinds: tuple[str, str, str]) -> str:
    """Return a list for each field of an undo's result, with an adjective and a verb for its files."""
    parts = []
    for field, adjective, verb in kinds:
        paths = result[field]
        noun = "note" if all(NotePath.on_disk(path).is_note for path in paths) else "file"
        singular, plural = f"{adjective}{noun} was {verb}", f"{adjective}{noun}s were {verb}"
        # A removed note has no page to open.
        names = paths if field == "removed" else list(map(link_or_path, paths))
        parts.append(_count_and_list(names, len(paths), singular, plural, ""))
    return "\n\n".join(filter(None, parts))


_BY_INTENT: Mapping[str, Callable[[Result, AnsweredCall], str]] = {
    "backlinks": _backlinks,
    "outgoing": _outgoing,
    "note-tags": _note_tags,
    "details": _details,
    "fact": _fact,
    "batch": _batch,
    "redo": _redone,
}
_BY_TOOL: Mapping[str, Callable[[Result, AnsweredCall], str]] = {
    "read_note": _read,
    "search_notes": _hits,
    "semantic_search": _hits,
    "find_passages": _passages,
    "search_by_tags": _format_names,
    "search_by_properties": _format_names,
    "list_notes": _listing,
    "find_related": _related,
    "list_tags": _tags,
    "vault_info": _vault,
    "note_history": _versions,
    "unlinked_mentions": _mentions,
    "list_unresolved_links": _unresolved,
    "directory_list": _directory,
    "find_duplicates": _duplicates,
    "delete_note": _deleted,
    "undo": _undone,
    "move_note": _moved,
    "move_folder": _moved_folder,
    "rename_heading": _renamed_heading,
    "rename_property": _renamed_property,
    **NODE_FORMATTERS,
}
