"""Functions that add, remove and rename tags in the properties and the prose."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from app.errors import InvalidParametersError
from app.vault.markdown.frontmatter import Frontmatter, read_frontmatter
from app.vault.markdown.inline import is_valid_tag
from app.vault.markdown.properties import editable_frontmatter, remove_property, set_property
from app.vault.markdown.property_facts import is_tag_entry
from app.vault.markdown.scan import scan
from app.vault.markdown.text import apply_edits
from app.vault.markdown.yaml_tree import MappingEntry, Node, Sequence, to_plain
from app.vault.path import name_key

_COMMENT = re.compile(r"\s#[^\n]*")
_WORD = re.compile(r"[^\s,]+")
Change = Callable[[str], str | None]


def add_tag(text: str, tag: str) -> str:
    """Return `text` with `tag` in its `tags` or `tag` property; without either, `tags` is created.

    A note that already has the tag, in its properties or its prose, stays unchanged.

    Raises:
        InvalidParametersError: the name is not a valid tag, or the properties can't be edited.
    """
    name = validate_tag(tag)
    if name_key(name) in (name_key(other.name) for other in scan(text).tags):
        return text
    entry = next(_tag_entries(editable_frontmatter(text)), None)
    if entry is None:
        return set_property(text, "tags", [name])
    value = to_plain(entry.value)
    if isinstance(value, str) and value.strip():
        return set_property(text, entry.key.text, value.rstrip() + _separator(value) + name)
    items = value if isinstance(value, list) else [] if value in (None, "") else [value]
    return set_property(text, entry.key.text, [*items, name])


def remove_tag(text: str, tag: str) -> str:
    """Return `text` without `tag`, ignoring case; nested tags are kept.

    A space that an inline tag leaves behind is removed, too, and so is a property that held no other tag.
    Properties that can't be read stay unchanged.

    Raises:
        InvalidParametersError: the properties can't be edited or would lose a comment, or removing the tag
            would change how the surrounding text is parsed (before a code fence, for example), so that
            other tags appear or disappear.
    """
    bare = tag.strip().lstrip("#").strip("/")
    key = name_key(bare)
    body = _remove_inline(text, key)
    after = _change_properties(body, lambda name: None if name_key(name) == key else name)
    other_tags = [other.name for other in scan(text).tags if name_key(other.name) != key]
    if [other.name for other in scan(after).tags] != other_tags:
        message = (
            f"Removing #{bare} would change how the text around it is parsed. Nothing was changed; remove"
            " the tag in the source."
        )
        raise InvalidParametersError(message, tag=tag)
    return after


def rename_tag(text: str, old: str, new: str) -> str:
    """Return `text` with the tag `old`, and every tag nested in it, renamed to `new`.

    The case of `old` does not matter. A property does not list a renamed tag twice. Properties that can't be
    read stay unchanged.

    Raises:
        InvalidParametersError: `new` is not a valid tag, or the properties can't be edited.
    """
    name = validate_tag(new)
    old_parts = [name_key(part) for part in old.strip().lstrip("#").strip("/").split("/")]

    def rename(tag: str) -> str:
        parts = tag.split("/")
        is_nested = [name_key(part) for part in parts[: len(old_parts)]] == old_parts
        return "/".join([name, *parts[len(old_parts) :]]) if is_nested else tag

    edits = [
        (tag.span.start + 1, tag.span.end, rename(tag.name))
        for tag in scan(text).tags
        if not tag.in_properties and rename(tag.name) != tag.name
    ]
    return _change_properties(apply_edits(text, edits), rename)


def validate_tag(tag: str) -> str:
    """Return `tag` without its `#`, leading or trailing slashes, or surrounding spaces.

    Raises:
        InvalidParametersError: it is not a valid tag.
    """
    name = tag.strip().removeprefix("#").strip("/")
    if not is_valid_tag(name):
        message = f"{tag!r} can't be a tag: use letters, digits, _ - / and at least one nondigit."
        raise InvalidParametersError(message, tag=tag)
    return name


def _remove_inline(text: str, key: str) -> str:
    edits = []
    for tag in scan(text).tags:
        if tag.in_properties or name_key(tag.name) != key:
            continue
        start, end = tag.span.start, tag.span.end
        end += text.startswith("/", end)
        after = text[end : end + 1]
        if start and text[start - 1] in " \t" and after in ("", " ", "\t", "\r", "\n", ".", ",", ";", ")"):
            start -= 1
        elif after in (" ", "\t") and (start == 0 or text[start - 1] == "\n"):
            end += 1
        edits.append((start, end, ""))
    return apply_edits(text, edits)


def _change_properties(text: str, change: Change) -> str:
    """Return `text` with each tag in its properties changed; a change to None removes the tag."""
    keys = dict.fromkeys(entry.key.text for entry in _tag_entries(read_frontmatter(text)))
    for key in keys:
        text = _change_property(text, key, change)
    return text


def _change_property(text: str, key: str, change: Change) -> str:
    entry = next(entry for entry in _tag_entries(read_frontmatter(text)) if entry.key.text == key)
    value = to_plain(entry.value)
    if isinstance(value, list):
        kept_items: list[object] = []
        for item in value:
            changed = _change_words(item, change) if isinstance(item, str) else item
            if changed is not None and (
                changed == item or (changed not in kept_items and changed not in value)
            ):
                kept_items.append(changed)
        changes_list = kept_items != value
        return _with_tags(text, entry, kept_items) if changes_list else text
    if not isinstance(value, str):
        return text
    changed = _change_words(value, change)
    return text if changed == value else _with_tags(text, entry, changed)


def _with_tags(text: str, entry: MappingEntry, tags: list[object] | str | None) -> str:
    """Return `text` with other tags in a property; without tags and comments, the property is removed.

    Raises:
        InvalidParametersError: the property can't be edited, or would lose a comment.
    """
    comments = _comments(text, entry)
    if not tags and not comments:
        return remove_property(text, entry.key.text)
    after = set_property(text, entry.key.text, tags)
    entries = _tag_entries(read_frontmatter(after))
    kept = next((_comments(after, other) for other in entries if other.key.text == entry.key.text), [])
    if kept != comments:
        message = (
            f"The property {entry.key.text!r} would lose a comment. Nothing was changed; edit the tag in the"
            " source."
        )
        raise InvalidParametersError(message, property=entry.key.text)
    return after


def _comments(text: str, entry: MappingEntry) -> list[str]:
    """Return the comments after a property's name, up to the line where its value ends."""
    value = entry.value
    values: Iterable[Node] = (value,)
    last: Node = value
    if isinstance(value, Sequence) and value.items:
        values = value.items
        # The span of a list without brackets may reach to the next property.
        last = value if value.flow else value.items[-1]
    end = text.find("\n", last.span.end)
    end = end if end >= 0 else len(text)
    comments: list[str] = []
    position = entry.key.span.end
    for start, next_position in [*((item.span.start, item.span.end) for item in values), (end, end)]:
        comments += (comment.strip() for comment in _COMMENT.findall(text, position, start))
        position = next_position
    return comments


def _change_words(value: str, change: Change) -> str | None:
    """Return a string of tags with each one changed and separators kept, or None if none is left."""
    result, position, seen_keys = "", 0, set()
    for match in _WORD.finditer(value):
        bare = match[0].lstrip("#")
        changed = change(bare)
        gap = value[position : match.start()]
        position = match.end()
        if changed is None or (changed != bare and name_key(changed) in seen_keys):
            continue
        seen_keys.add(name_key(changed))
        result += (gap if result else gap.lstrip(" ,")) + match[0][: len(match[0]) - len(bare)] + changed
    return (result + value[position:]) if result else None


def _tag_entries(frontmatter: Frontmatter) -> Iterator[MappingEntry]:
    return filter(is_tag_entry, frontmatter.tree.entries if frontmatter.tree else ())


def _separator(value: str) -> str:
    return " " if "," not in value and re.search(r"\S\s+\S", value) else ", "
