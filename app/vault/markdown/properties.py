"""Edit one property and leave every other character unchanged.

A value is replaced in place; a list is changed item by item, so that its style, its comments and the quotes
of other items are kept. Each edit is parsed again before it is returned: if the properties differ from the
intended ones, nothing is changed and an error is raised.
"""

from __future__ import annotations

from collections.abc import Iterator

from app.errors import InvalidParametersError
from app.vault.markdown.frontmatter import Frontmatter, read_frontmatter
from app.vault.markdown.text import apply_edits, newline_of, next_line_start
from app.vault.markdown.yaml_tree import Mapping, MappingEntry, Node, Scalar, Sequence, to_plain
from app.vault.markdown.yaml_value import (
    block_text,
    double_quoted,
    inline_yaml,
    is_same_value,
    json_like,
    json_text,
    text_scalar,
)

Edit = tuple[int, int, str]


def set_property(text: str, key: str, value: object) -> str:
    """Return `text` with the property `key` set.

    A new property is added at the end of the block, which is created if missing.

    Args:
        text: A note's text.
        key: The property's name; an existing one may differ in case.
        value: Text, number, true or false, None, a date or time, or a list or mapping of them.

    Raises:
        InvalidParametersError: the name is blank or occurs more than once, the block can't be read or edited
            safely, or the value can't be stored.
    """
    new_value = json_like(value)
    if not key.strip():
        raise InvalidParametersError("A property needs a name.")
    frontmatter = editable_frontmatter(text)
    entry = find_entry(frontmatter, key)
    if entry and is_same_value(to_plain(entry.value), new_value):
        return text
    expected = {**frontmatter.properties, entry.key.text if entry else key: new_value}
    attempts = (
        _replacements(text, frontmatter, entry, new_value)
        if entry
        else _additions(text, frontmatter, key, new_value)
    )
    for attempt in attempts:
        if has_properties(attempt, expected):
            return attempt
    raise InvalidParametersError(
        f"The property {key!r} can't be set without changing others. Nothing was changed.", property=key
    )


def remove_property(text: str, key: str) -> str:
    """Return `text` without the property `key`, and without a block that held nothing else.

    A block in braces stays as `{}`. If there is no such property, the text is unchanged.

    Raises:
        InvalidParametersError: the property occurs more than once, or the block can't be read or edited
            safely.
    """
    frontmatter = editable_frontmatter(text)
    entry = find_entry(frontmatter, key)
    if entry is None or frontmatter.tree is None or frontmatter.span is None or frontmatter.content is None:
        return text
    expected = {name: value for name, value in frontmatter.properties.items() if name != entry.key.text}
    if frontmatter.tree.flow:
        spans = [(e.key.span.start, content_end(text, e)) for e in frontmatter.tree.entries]
        after = apply_edits(text, [_flow_removal(spans, frontmatter.tree.entries.index(entry))])
    else:
        start, end = _line_start(text, entry.key.span.start), next_line_start(text, content_end(text, entry))
        after = apply_edits(text, [(start, end, "")])
        if not (text[frontmatter.content.start : start] + text[end : frontmatter.content.end]).strip():
            after = apply_edits(text, [(frontmatter.span.start, frontmatter.span.end, "")])
    if not has_properties(after, expected):
        message = f"The property {key!r} can't be removed without changing others. Nothing was changed."
        raise InvalidParametersError(message, property=key)
    return after


def rename_property(text: str, key: str, new_key: str) -> str:
    """Return `text` with the property `key` named `new_key`; only the characters of the name change.

    If there is no such property, the text is unchanged.

    Raises:
        InvalidParametersError: the new name is blank or another property has it, a property occurs more than
            once, or the block can't be read or edited safely.
    """
    new_name = new_key.strip()
    if not new_name:
        raise InvalidParametersError("A property needs a name.")
    frontmatter = editable_frontmatter(text)
    entry = find_entry(frontmatter, key)
    if entry is None or frontmatter.tree is None or entry.key.text == new_name:
        return text
    old_name = entry.key.text
    if find_entry(frontmatter, new_name) not in (None, entry):
        message = f"The note has both “{old_name}” and “{new_name}”."
        raise InvalidParametersError(message, property=new_name)
    written = json_text(new_name) if frontmatter.tree.flow else text_scalar(new_name)
    after = apply_edits(text, [(entry.key.span.start, entry.key.span.end, written)])
    expected = {
        new_name if name == old_name else name: value for name, value in frontmatter.properties.items()
    }
    if not has_properties(after, expected):
        message = f"The property “{old_name}” can't be renamed without changing others."
        raise InvalidParametersError(message, property=old_name)
    return after


def editable_frontmatter(text: str) -> Frontmatter:
    """Return the frontmatter of `text` if its properties can be edited.

    Raises:
        InvalidParametersError: it can't be read, or it is JSON that is not YAML.
    """
    frontmatter = read_frontmatter(text)
    if frontmatter.problem:
        raise InvalidParametersError(
            f"{frontmatter.problem} Nothing was changed.", problem=frontmatter.problem
        )
    if frontmatter.tree is None and frontmatter.properties:
        message = "The properties are JSON in a form that can be read but not edited. Nothing was changed."
        raise InvalidParametersError(message)
    return frontmatter


def find_entry(frontmatter: Frontmatter, key: str) -> MappingEntry | None:
    """Return the entry of the property `key`, preferably in the same case, or None.

    Raises:
        InvalidParametersError: it occurs more than once.
    """
    entries = frontmatter.tree.entries if frontmatter.tree else ()
    exact = [entry for entry in entries if entry.key.text == key]
    matches = exact or [e for e in entries if e.key.text.casefold() == key.strip().casefold()]
    if len(matches) > 1:
        message = f"The property {key!r} occurs more than once. Nothing was changed."
        raise InvalidParametersError(message, property=key)
    return matches[0] if matches else None


def has_properties(text: str, expected: dict[str, object]) -> bool:
    """Return whether the properties of `text` are exactly `expected`."""
    frontmatter = read_frontmatter(text)
    return frontmatter.problem is None and is_same_value(frontmatter.properties, expected)


def content_end(text: str, entry: MappingEntry) -> int:
    """Return the end of an entry's value, or of its colon if it has no value."""
    end = _node_end(text, entry.value)
    return end if end > entry.key.span.end else _colon_index(text, entry) + 1


def _node_end(text: str, node: Node) -> int:
    if isinstance(node, Scalar):
        if node.quote in ("|", ">"):
            return node.span.start + len(text[node.span.start : node.span.end].rstrip())
        return node.span.end
    if node.flow:
        return node.span.end
    return _node_end(text, node.items[-1] if isinstance(node, Sequence) else node.entries[-1].value)


def _colon_index(text: str, entry: MappingEntry) -> int:
    return text.index(":", entry.key.span.end)


def _line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def _additions(text: str, frontmatter: Frontmatter, key: str, value: object) -> Iterator[str]:
    newline = newline_of(text, frontmatter.content.start if frontmatter.content else 0)
    name = text_scalar(key)
    if frontmatter.tree and frontmatter.tree.flow:
        pair = f"{json_text(key)}: {json_text(value)}"
        entries = frontmatter.tree.entries
        position = content_end(text, entries[-1]) if entries else frontmatter.tree.span.start + 1
        yield apply_edits(text, [(position, position, f", {pair}" if entries else pair)])
        return
    indent, position = "", frontmatter.body_start
    if frontmatter.tree:
        first = frontmatter.tree.entries[0].key.span.start
        indent = text[_line_start(text, first) : first]
    for value_text in _yaml_candidates(value, newline, indent, _list_indent(frontmatter.tree, text)):
        line = f"{indent}{name}:{value_text}{newline}"
        if frontmatter.content is None:
            yield apply_edits(text, [(position, position, f"---{newline}{line}---{newline}")])
        else:
            yield apply_edits(text, [(frontmatter.content.end, frontmatter.content.end, line)])


def _replacements(text: str, frontmatter: Frontmatter, entry: MappingEntry, value: object) -> Iterator[str]:
    node, after_colon = entry.value, _colon_index(text, entry) + 1
    if frontmatter.tree and frontmatter.tree.flow:
        yield apply_edits(text, [(node.span.start, node.span.end, json_text(value))])
        return
    newline = newline_of(text, entry.key.span.start)
    if isinstance(node, Sequence) and isinstance(value, list) and value and node.items:
        edits = _flow_edits(text, node, value) if node.flow else _block_edits(text, node, value, newline)
        if edits is not None:
            yield apply_edits(text, edits)
    end = content_end(text, entry)
    is_short = not isinstance(value, list | dict | None) and "\n" not in str(value)
    is_plain_scalar = (
        isinstance(node, Scalar) and node.quote not in ("|", ">") and node.span.end > node.span.start
    )
    if is_short and is_plain_scalar:
        yield apply_edits(text, [(node.span.start, end, inline_yaml(value, quote=_quote(node, value)))])
    if isinstance(node, Sequence) and node.flow and isinstance(value, list):
        yield apply_edits(text, [(node.span.start, end, inline_yaml(value))])
    indent = text[_line_start(text, entry.key.span.start) : entry.key.span.start]
    for value_text in _yaml_candidates(value, newline, indent, _list_indent(frontmatter.tree, text)):
        yield apply_edits(text, [(after_colon, end, value_text)])


def _yaml_candidates(value: object, newline: str, indent: str, list_indent: str) -> Iterator[str]:
    """Yield spellings of `value` that may follow a key's colon, most readable first."""
    if isinstance(value, list) and value:
        lead = f"{newline}{indent}{list_indent}- "
        yield "".join(lead + inline_yaml(item, flow=isinstance(item, list | dict)) for item in value)
    elif isinstance(value, str) and (block := block_text(value, newline, indent + "  ")):
        yield f" {block}"
    short = inline_yaml(value)
    yield f" {short}" if short else ""
    if isinstance(value, str):
        yield f" {double_quoted(value)}"


def _quote(node: Node, value: object) -> str:
    """Return the quotes of `node` if `value` is text that can keep them, else an empty string."""
    if isinstance(node, Scalar) and isinstance(value, str) and node.quote in ("'", '"'):
        return node.quote
    return ""


def _list_indent(tree: Mapping | None, text: str) -> str:
    """Return the indentation of the first block list relative to its key; two spaces without a list."""
    for entry in tree.entries if tree else ():
        if isinstance(entry.value, Sequence) and not entry.value.flow and entry.value.items:
            first, key = entry.value.items[0].span.start, entry.key.span.start
            lead = text[_line_start(text, first) : first]
            return " " * max(len(lead) - len(lead.lstrip(" ")) - (key - _line_start(text, key)), 0)
    return "  "


def _unchanged_ends(node: Sequence, value: list[object]) -> tuple[int, int]:
    """Return how many items at the start and at the end stay unchanged."""
    old_values = [to_plain(item) for item in node.items]
    shared_length = min(len(old_values), len(value))
    head = next(
        (i for i in range(shared_length) if not is_same_value(old_values[i], value[i])), shared_length
    )
    max_tail = shared_length - head
    tail = next(
        (i for i in range(max_tail) if not is_same_value(old_values[-1 - i], value[-1 - i])), max_tail
    )
    return head, tail


def _block_edits(text: str, node: Sequence, value: list[object], newline: str) -> list[Edit] | None:
    """Return the edits that turn a block list into `value`, or None if an item does not start its line."""
    starts = [_line_start(text, item.span.start) for item in node.items]
    leads = [text[start : item.span.start] for start, item in zip(starts, node.items, strict=True)]
    if any(lead.strip() != "-" for lead in leads):
        return None
    head, tail = _unchanged_ends(node, value)
    old_items, new_values = node.items[head : len(node.items) - tail], value[head : len(value) - tail]
    edits: list[Edit] = []
    for item, new_value in zip(old_items, new_values, strict=False):
        edits.append(
            (item.span.start, _node_end(text, item), inline_yaml(new_value, quote=_quote(item, new_value)))
        )
    for index in range(head + len(new_values), head + len(old_items)):
        edits.append((starts[index], next_line_start(text, _node_end(text, node.items[index])), ""))
    if len(new_values) > len(old_items):
        after = head + len(old_items)
        position = starts[after] if after < len(starts) else next_line_start(text, _node_end(text, node))
        lead = leads[0] if leads[0].endswith(" ") else leads[0] + " "
        rows = "".join(
            f"{lead}{inline_yaml(new_value)}{newline}" for new_value in new_values[len(old_items) :]
        )
        edits.append((position, position, rows))
    return edits


def _flow_edits(text: str, node: Sequence, value: list[object]) -> list[Edit] | None:
    """Return the edits that turn a list in brackets into `value`, or None if it is an alias or anchored."""
    if not text.startswith("[", node.span.start):
        return None
    head, tail = _unchanged_ends(node, value)
    old_items, new_values = node.items[head : len(node.items) - tail], value[head : len(value) - tail]
    edits: list[Edit] = [
        (item.span.start, item.span.end, inline_yaml(new_value, flow=True, quote=_quote(item, new_value)))
        for item, new_value in zip(old_items, new_values, strict=False)
    ]
    spans = [(item.span.start, item.span.end) for item in node.items]
    first, last = head + len(new_values), head + len(old_items) - 1
    if first <= last:
        keeps_later_items = last + 1 < len(spans)
        start = spans[first][0] if keeps_later_items or first == 0 else spans[first - 1][1]
        edits.append((start, spans[last + 1][0] if keeps_later_items else spans[last][1], ""))
    if added := [inline_yaml(new_value, flow=True) for new_value in new_values[len(old_items) :]]:
        after = head + len(old_items)
        position = spans[after][0] if after < len(spans) else spans[-1][1]
        edits.append(
            (position, position, ", ".join(added) + ", " if after < len(spans) else ", " + ", ".join(added))
        )
    return edits


def _flow_removal(spans: list[tuple[int, int]], index: int) -> Edit:
    if index + 1 < len(spans):
        return spans[index][0], spans[index + 1][0], ""
    return (spans[index - 1][1] if index else spans[index][0]), spans[index][1], ""
