"""Merge two notes: compute the text of the remaining note according to a strategy.

combine: both texts, the second after the first and before its relations; no prose of either is lost.
prefer_primary: the prose of the remaining note, byte for byte. prefer_secondary: the prose of the other note,
whose property values also replace those of the remaining note, except for its id and permalink.

With every strategy, the remaining note keeps its relations and receives the relations, properties, tags and
aliases that only the other one has, and the other's name as an alias. It becomes private if the other note is
private, and keeps its newline style.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.errors import InvalidParametersError
from app.vault.markdown.body_edits import replace_body
from app.vault.markdown.headings import heading_key, section_at
from app.vault.markdown.properties import set_property
from app.vault.markdown.relation_edits import RELATIONS_HEADING, add_items, final_section, format_item
from app.vault.markdown.relations import relation_type
from app.vault.markdown.scan import scan
from app.vault.markdown.text import apply_edits, newline_of, with_newlines
from app.vault.note import ID_KEYS, ParsedNote, Relation, Span
from app.vault.path import name_key

Strategy = Literal["combine", "prefer_primary", "prefer_secondary"]
_LIST_KEYS = ("tags", "aliases")


@dataclass(frozen=True, slots=True)
class MergedText:
    """The text of the merged note, and the number of relations that it received from the other one."""

    text: str
    relations: int


def merge_note_texts(primary: str, secondary: str, strategy: Strategy, other_name: str) -> MergedText:
    """Return the text of the remaining note.

    Args:
        primary: The text of the remaining note, with its links already updated.
        secondary: The text of the other note, with its links already rewritten for the first.
        strategy: Selects the prose to keep.
        other_name: The other note's name, which becomes an alias.

    Raises:
        InvalidParametersError: The properties of the first can't be edited; nothing was changed.
    """
    first, second = scan(primary), scan(secondary)
    body, own_section = _without_relations(secondary, second)
    existing_types = {relation_type(key) for key in first.properties}
    moved = [
        relation
        for relation in second.relations
        if _must_move(relation, strategy, own_section, existing_types)
    ]
    if strategy == "combine":
        text = _with_body(primary, first, body)
    elif strategy == "prefer_secondary":
        text = replace_body(primary, body)
        moved = _prose_relations(first) + moved
    else:
        text = primary
    texts = {id(relation): primary for relation in first.relations} | {
        id(relation): secondary for relation in second.relations
    }
    existing_keys = {_relation_key(relation) for relation in scan(text).relations}
    items: list[str] = []
    count = 0
    for relation in moved:
        if _relation_key(relation) in existing_keys:
            continue
        existing_keys.add(_relation_key(relation))
        items.append(format_item(texts[id(relation)], relation))
        count += texts[id(relation)] is secondary
    text = add_items(text, items)
    prefers_second = strategy == "prefer_secondary"
    return MergedText(_with_properties(text, first, second, other_name, prefers_second), count)


def _relation_key(relation: Relation) -> tuple[str, str]:
    return relation.type, name_key(relation.link.target)


def _must_move(
    relation: Relation, strategy: Strategy, own_section: Span | None, existing_types: set[str]
) -> bool:
    """Return whether a relation must be added because neither the merged prose nor the properties have it."""
    if relation.link.in_properties:
        return relation.type in existing_types
    if strategy == "prefer_primary":
        return True
    return own_section is not None and own_section.start <= relation.span.start < own_section.end


def _prose_relations(note: ParsedNote) -> list[Relation]:
    """Return the relations in a note's prose, without those in its properties."""
    return [relation for relation in note.relations if not relation.link.in_properties]


def _without_relations(text: str, note: ParsedNote) -> tuple[str, Span | None]:
    """Return the prose without a final `## Relations` section that contains only relations."""
    start = note.body_start + text.startswith("\ufeff", note.body_start)
    section = final_section(text, note)
    if section is not None:
        return text[start : section.start], section
    return text[start:], None


def _with_body(primary: str, note: ParsedNote, body: str) -> str:
    """Return `primary` with `body` after its prose, before a final `## Relations` section."""
    newline = newline_of(primary, len(primary))
    added = with_newlines(body, newline).strip("\r\n")
    if not added.strip():
        return primary
    at = len(primary)
    for index, heading in enumerate(note.headings):
        section = section_at(primary, note.headings, index)
        if heading_key(heading.text) == RELATIONS_HEADING.casefold() and section.own_end == len(primary):
            at = heading.span.start
    if at < len(primary):
        lead = primary[:at]
        gap = "" if not lead.strip() else _missing_newlines(lead, newline)
        return apply_edits(primary, [(at, at, f"{gap}{added}{newline}{newline}")])
    return (
        primary
        + ("" if not primary.strip("\ufeff \r\n") else _missing_newlines(primary, newline))
        + added
        + newline
    )


def _missing_newlines(lead: str, newline: str) -> str:
    """Return the newlines to append to `lead` so that it ends with a blank line."""
    ends = len(lead) - len(lead.rstrip("\r\n"))
    newlines = lead[len(lead) - ends :].count("\n")
    return newline * max(0, 2 - newlines)


def _with_properties(
    text: str, first: ParsedNote, second: ParsedNote, other_name: str, prefers_second: bool
) -> str:
    """Return `text` with the properties that only the second note has.

    With `prefers_second`, the second note's values also replace those of the first. Tags and aliases are
    joined, and the other note's name becomes an alias.
    """
    keys_by_name = {name_key(key): key for key in first.properties}
    relation_types = {
        relation.type for relation in (*first.relations, *second.relations) if relation.link.in_properties
    }
    for key, value in second.properties.items():
        folded = name_key(key)
        if (
            folded in _LIST_KEYS
            or folded in ID_KEYS
            or (folded in keys_by_name and relation_type(key) in relation_types)
        ):
            continue
        if (folded == "ai" and second.is_private) or folded not in keys_by_name or prefers_second:
            text = set_property(text, keys_by_name.get(folded, key), value)
    tags = _join_tags(first.properties, second.properties)
    if tags:
        text = set_property(text, keys_by_name.get("tags", "tags"), tags)
    existing_keys = {name_key(alias) for alias in first.aliases}
    aliases = [alias for alias in (*second.aliases, other_name) if name_key(alias) not in existing_keys]
    if aliases:
        key = keys_by_name.get("aliases") or keys_by_name.get("alias") or "aliases"
        text = set_property(text, key, [*first.aliases, *dict.fromkeys(aliases)])
    return text


def _join_tags(first: Mapping[str, object], second: Mapping[str, object]) -> list[object]:
    """Return the tags of both notes without duplicates; empty if the second adds none."""
    own = _tags_of(first)
    own_keys = {name_key(str(tag).lstrip("#")) for tag in own}
    added = [tag for tag in _tags_of(second) if name_key(str(tag).lstrip("#")) not in own_keys]
    return [*own, *added] if added else []


def _tags_of(properties: Mapping[str, object]) -> list[object]:
    value = next((value for name, value in properties.items() if name_key(name) == "tags"), None)
    if isinstance(value, list | tuple):
        return list(value)
    return [] if value is None else [*str(value).replace(",", " ").split()]


def check_distinct(primary: str, secondary: str) -> None:
    """Check that two notes are distinct.

    Raises:
        InvalidParametersError: They are the same note.
    """
    if primary == secondary:
        raise InvalidParametersError("A note can't be merged with itself; nothing was changed.", path=primary)
