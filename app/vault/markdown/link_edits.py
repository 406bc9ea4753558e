"""In-place edits of link targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from app.errors import InvalidParametersError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.links import format_target
from app.vault.markdown.property_facts import literal_start
from app.vault.markdown.scan import scan
from app.vault.markdown.text import apply_edits
from app.vault.markdown.yaml_tree import Mapping, Node, Scalar, Sequence
from app.vault.markdown.yaml_value import escape_quoted, is_plain, text_scalar
from app.vault.note import Link, LinkStyle, Span

Edit = tuple[int, int, str]


def rewrite_links(text: str, rewrite: Callable[[Link], str | None]) -> str:
    """Return `text` with link targets replaced; alias, heading, style and everything else are unchanged.

    Args:
        text: A note's text.
        rewrite: Returns a link's new target, decoded and without heading or alias, or None to keep it.

    Raises:
        InvalidParametersError: a property can't contain the new target, or contains the link in a form that
            can't be edited.
    """
    edits: list[Edit] = []
    in_properties: list[tuple[Link, str]] = []
    for link in scan(text).links:
        target = rewrite(link)
        if target is None or target == link.target:
            continue
        if link.in_properties:
            in_properties.append((link, target))
        else:
            span = link.target_span
            edits.append((span.start, span.end, _format_as_written(text, link, target)))
    if in_properties:
        edits += _property_edits(text, in_properties)
    after = apply_edits(text, edits)
    if in_properties and read_frontmatter(after).problem:
        raise InvalidParametersError("The properties can't contain the new link. Nothing was changed.")
    return after


def _format_as_written(text: str, link: Link, target: str) -> str:
    angled = link.style is LinkStyle.MARKDOWN and text[link.target_span.start - 1] == "<"
    return format_target(link.style, target, angled=angled)


@dataclass(frozen=True, slots=True)
class _PropertyScalar:
    """A scalar in the properties; `flow` if it is inside brackets or braces."""

    scalar: Scalar
    flow: bool


def _property_edits(text: str, changes: list[tuple[Link, str]]) -> Iterator[Edit]:
    tree = read_frontmatter(text).tree
    for property_scalar in _iter_scalars(tree, False) if tree else ():
        span = property_scalar.scalar.span
        scalar_changes = [change for change in changes if _is_inside(change[0].target_span, span)]
        if scalar_changes:
            yield from _scalar_edits(text, property_scalar, scalar_changes)


def _scalar_edits(
    text: str, property_scalar: _PropertyScalar, changes: list[tuple[Link, str]]
) -> Iterator[Edit]:
    scalar, scalar_start = property_scalar.scalar, literal_start(property_scalar.scalar, text)
    if scalar_start is None:
        yield from _rewrite_targets(text, scalar, changes)
        return
    edits = [(a.target_span.start, a.target_span.end, format_target(a.style, b)) for a, b in changes]
    value = apply_edits(
        scalar.text, [(start - scalar_start, end - scalar_start, new) for start, end, new in edits]
    )
    if not scalar.quote and not is_plain(value, flow=property_scalar.flow):
        yield scalar.span.start, scalar.span.end, text_scalar(value, flow=property_scalar.flow)
    elif scalar.quote == '"':
        yield from ((start, end, escape_quoted(new)) for start, end, new in edits)
    else:
        is_single_quoted = scalar.quote == "'"
        yield from (
            (start, end, new.replace("'", "''") if is_single_quoted else new) for start, end, new in edits
        )


def _rewrite_targets(text: str, scalar: Scalar, changes: list[tuple[Link, str]]) -> Iterator[Edit]:
    """Yield the edits of a scalar with escapes or folded lines, in which each target must occur once.

    Raises:
        InvalidParametersError: a target does not occur exactly once as written.
    """
    raw = text[scalar.span.start : scalar.span.end]
    quote = scalar.quote
    for link, target in changes:
        old = {'"': escape_quoted(link.target), "'": link.target.replace("'", "''")}.get(quote, link.target)
        new = format_target(link.style, target)
        new = {'"': escape_quoted(new), "'": new.replace("'", "''")}.get(quote, new)
        mark = "[[" if link.style is LinkStyle.WIKI else "]("
        if raw.count(mark + old) != 1:
            message = (
                f"A property contains a link to {link.target!r} in a form that can't be edited."
                " Nothing was changed."
            )
            raise InvalidParametersError(message, target=link.target)
        position = scalar.span.start + raw.index(mark + old) + len(mark)
        yield position, position + len(old), new


def _is_inside(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _iter_scalars(node: Node, flow: bool) -> Iterator[_PropertyScalar]:
    if isinstance(node, Scalar):
        yield _PropertyScalar(node, flow)
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _iter_scalars(item, node.flow)
    elif isinstance(node, Mapping):
        for entry in node.entries:
            yield from _iter_scalars(entry.value, node.flow)
