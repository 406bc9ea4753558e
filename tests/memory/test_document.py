"""A block, its bytes and its loro document are equivalent; concurrent edits are both kept."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.errors import InvalidParametersError, StorageError
from app.memory.block import Block
from app.memory.document import BlockDocument
from app.memory.labels import block_path, clean_label, label_from_path
from app.memory.schema import FieldKind, ListSchema, LogSchema, MapField, MapSchema
from app.memory.serialization import parse_block, serialize_block
from tests.memory.blocks import LABELS, blocks, contents


@given(blocks())
def test_bytes_and_block_are_equivalent(block: Block) -> None:
    assert parse_block(serialize_block(block)) == block


@settings(max_examples=60)
@given(st.data())
def test_a_document_can_become_any_block_and_is_saved_as_it(data: st.DataObject) -> None:
    first = data.draw(blocks(label="plan"))
    second = first.with_content(data.draw(contents(first.schema)))  # type: ignore[arg-type]
    document = BlockDocument()
    document.write(first)
    assert document.read() == first
    version = document.version
    document = BlockDocument(document.save())
    document.write(second)
    assert serialize_block(BlockDocument(document.save()).read()) == serialize_block(second)
    earlier = document.at_version(version)
    assert earlier is not None and earlier.read() == first


@given(LABELS)
def test_a_label_can_be_read_from_its_path(label: str) -> None:
    try:
        path = block_path("mcp:a/b", label)
    except InvalidParametersError:
        assume(False)
    assert label_from_path(path) == clean_label(label)
    assert not path.is_hidden and len(path.text.split("/")) == 2 + label.strip().count("/")


@given(st.lists(LABELS, min_size=2, max_size=2, unique_by=lambda text: clean_label(text).casefold()))
def test_two_labels_have_two_paths(labels: list[str]) -> None:
    paths = set()
    for label in labels:
        try:
            paths.add(block_path("a", label).key)
        except InvalidParametersError:
            assume(False)
    assert len(paths) == 2


WORDS = st.lists(st.sampled_from(["abc", "def", "ghi", "jkl"]), max_size=6)


@given(WORDS, WORDS, WORDS)
def test_items_added_to_a_list_at_the_same_time_are_all_kept(
    base: list[str], ours: list[str], theirs: list[str]
) -> None:
    block = Block("a", "list", schema=ListSchema(), content=tuple(base))
    left, right = _forked(block)
    left.write(block.with_content((*ours, *base)))
    right.write(block.with_content((*base, *theirs)))
    left.merge(right)
    right.merge(left)
    assert left.read() == right.read()
    assert sorted(left.read().content) == sorted([*ours, *base, *theirs])


@given(st.text("abc \n", max_size=20), st.text("xyz", min_size=1), st.text("uvw", min_size=1))
def test_words_written_into_a_text_at_the_same_time_are_all_kept(base: str, ours: str, theirs: str) -> None:
    block = Block("a", "text", content=base)
    left, right = _forked(block)
    left.write(block.with_text(ours + base))
    right.write(block.with_text(base + theirs))
    left.merge(right)
    merged = left.read().text
    assert merged == ours + base + theirs or (not base and sorted(merged) == sorted(ours + theirs))


@given(st.integers(-1000, 1000), st.integers(-1000, 1000), st.integers(-1000, 1000))
def test_what_is_added_to_a_counter_at_two_places_adds_up(base: int, ours: int, theirs: int) -> None:
    schema = MapSchema(fields=(MapField(name="n", kind=FieldKind.COUNTER),))
    block = Block("a", "counts", schema=schema, content={"n": base})
    left, right = _forked(block)
    left.write(block.with_content({"n": base + ours}))
    right.write(block.with_content({"n": base + theirs}))
    left.merge(right)
    assert left.read().content == {"n": base + ours + theirs}


def _forked(block: Block) -> tuple[BlockDocument, BlockDocument]:
    document = BlockDocument()
    document.write(block)
    return BlockDocument(document.save()), BlockDocument(document.save())


def test_a_document_with_a_very_long_history_is_compacted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.memory.document._MAX_OPERATIONS", 50)
    block = Block.new("a", "b", text="x" * 40)
    document = BlockDocument()
    document.write(block)
    assert document.compact() is document
    version = document.version
    document.write(block.with_text("y" * 40))
    short = document.compact()
    assert short is not document and short.read() == document.read()
    assert short.at_version(version) is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"no header", "header"),
        (b'---\nowner: "a"\n---\n', "header"),
        (b'---\nowner "a"\n---\n', "Line 2"),
        (b"---\nowner: [[[\n---\n", "Line 2"),
        (b"\xff", "UTF-8"),
        (serialize_block(Block("a", "b")).replace(b"working", b"waking"), "type"),
        (serialize_block(Block("a", "b")).replace(b"read_write", b"root"), "permission"),
        (serialize_block(Block("a", "b")).replace(b'"text"', b'"tree"'), "schema"),
        (serialize_block(Block("a", "b")).replace(b"label:", b"color: 1\nlabel:"), "color"),
        (serialize_block(Block("a", "b", schema=ListSchema(), content=())) + b"no item\n", "Line 1"),
        (serialize_block(Block("a", "b", schema=LogSchema(), content=())) + b"- soon x\n", "time"),
        (
            serialize_block(Block("a", "b", schema=ListSchema(max_items=1), content=())) + b"- a\n- b\n",
            "at most 1",
        ),
    ],
)
def test_bytes_that_are_no_block_are_an_error(data: bytes, said: str) -> None:
    with pytest.raises(InvalidParametersError, match=said):
        parse_block(data)


def test_a_deeply_nested_header_is_refused() -> None:
    with pytest.raises(InvalidParametersError):
        parse_block(b"---\nowner: " + b"[" * 100_000 + b"\n---\n")


def test_a_damaged_history_is_a_storage_error() -> None:
    with pytest.raises(StorageError, match="history is damaged"):
        BlockDocument(b"no history")
    with pytest.raises(StorageError, match="history is damaged"):
        BlockDocument().at_version(b"no version")
