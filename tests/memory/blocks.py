"""Blocks of every schema, for tests of rules that apply to all of them."""

from __future__ import annotations

from typing import cast

from hypothesis import strategies as st

from app.memory.block import Block, BlockType, BlockView, Permission
from app.memory.content import Content, LogEntry
from app.memory.schema import (
    CompositeSchema,
    FieldKind,
    ListSchema,
    LogSchema,
    MapField,
    MapSchema,
    Schema,
    SectionSchema,
    TextSchema,
)

FIELDS = MapSchema(fields=tuple(MapField(name=f"a {kind}", kind=kind) for kind in FieldKind))
SCHEMAS: tuple[Schema, ...] = (
    TextSchema(),
    ListSchema(),
    LogSchema(),
    FIELDS,
    CompositeSchema(
        sections=(
            SectionSchema(name="notes"),
            SectionSchema(name="facts", content=FIELDS),
            SectionSchema(name="items", content=ListSchema()),
            SectionSchema(name="diary", content=LogSchema()),
        )
    ),
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    ["", "\n", "a\n", "- a\n  b", "name: x", "\n\n", "  ", "---\n", "notes:\n", "😀 é\r\n"]
)
TIMES = st.datetimes().map(lambda at: at.isoformat())
_OF_KIND: dict[FieldKind, st.SearchStrategy[object]] = {
    FieldKind.TEXT: TEXTS,
    FieldKind.NUMBER: st.none()
    | st.integers(-(2**50), 2**50)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer()),
    FieldKind.BOOLEAN: st.none() | st.booleans(),
    FieldKind.LIST: st.lists(TEXTS, max_size=4).map(tuple),
    FieldKind.TIMESTAMP: st.none() | TIMES,
    FieldKind.COUNTER: st.integers(-(2**50), 2**50),
}


def contents(schema: Schema) -> st.SearchStrategy[object]:
    """A strategy for the content of a block with this schema."""
    match schema:
        case TextSchema():
            return TEXTS
        case ListSchema():
            return st.lists(TEXTS, max_size=5).map(tuple)
        case LogSchema():
            return st.lists(st.builds(LogEntry, TIMES, TEXTS), max_size=4).map(tuple)
        case MapSchema():
            return st.fixed_dictionaries({field.name: _OF_KIND[field.kind] for field in schema.fields})
        case CompositeSchema():
            return st.fixed_dictionaries({one.name: contents(one.content) for one in schema.sections})


LABELS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40).filter(
    lambda text: all(part.strip() for part in text.split("/"))
)


@st.composite
def blocks(draw: st.DrawFn, label: str = "") -> Block:
    """A strategy for any block."""
    schema = draw(st.sampled_from(SCHEMAS))
    agents = st.sampled_from(["scriptorium", "editor", "mcp:a/b"])
    views = st.builds(BlockView, st.booleans(), st.integers(2, 9), st.none() | st.integers(1, 9))
    made = Block.new(draw(agents), label or draw(LABELS), schema=schema)
    return Block(
        made.owner,
        made.label,
        draw(st.sampled_from(BlockType)),
        schema,
        draw(st.sampled_from(Permission)),
        draw(TEXTS),
        cast("Content", draw(contents(schema))),
        draw(st.dictionaries(agents, views)),
        draw(st.dictionaries(agents, st.sampled_from(Permission))),
        draw(st.dictionaries(st.sampled_from(["source", "hash"]), TEXTS)),
    )
