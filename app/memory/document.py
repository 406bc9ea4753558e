"""A block as a loro document (CRDT), which merges concurrent edits.

Each text, list, log and counter is a loro container of its own, and keeps all concurrent edits. The header
and the other fields are values in maps: if two edits set the same value, one of them wins.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
from typing import Any, cast

from loro import ExportMode, Frontiers, LoroDoc
from pydantic import JsonValue

from app.errors import StorageError
from app.memory.block import Block
from app.memory.content import Content, LogEntry, PlainContent
from app.memory.schema import CompositeSchema, FieldKind, ListSchema, LogSchema, MapSchema, Plain, TextSchema
from app.memory.serialization import block_header, build_block

_ABOUT = "about"
_BODY = "body"
_MAX_DIFFED_CHARS = 20_000
_MAPS = ("views", "shares", "origin")
_MAX_OPERATIONS = 100_000


class BlockDocument:
    """The loro document of one block, in memory.

    Args:
        data: The result of `save`; None for a new document.

    Raises:
        StorageError: The data is damaged.
    """

    def __init__(self, data: bytes | None = None) -> None:
        self._doc: LoroDoc = LoroDoc()  # type: ignore[no-untyped-call]
        if data is not None:
            with _convert_loro_errors():
                self._doc.import_(data)

    def save(self) -> bytes:
        """Return the document with its history, as bytes."""
        self._doc.commit()
        return self._doc.export(ExportMode.Snapshot())

    def compact(self) -> BlockDocument:
        """Return this document, or a copy without history if the history has become very long."""
        if self._doc.len_ops <= _MAX_OPERATIONS:
            return self
        copy = BlockDocument()
        copy.write(self.read())
        return copy

    @property
    def version(self) -> bytes:
        """The current version of the document."""
        self._doc.commit()
        return self._doc.oplog_frontiers.encode()

    def at_version(self, version: bytes) -> BlockDocument | None:
        """Return a copy of the document at a version; None if that version is no longer stored.

        Raises:
            StorageError: `version` is damaged.
        """
        with _convert_loro_errors():
            frontiers = Frontiers.decode(version)
        self._doc.commit()
        if self._doc.frontiers_to_vv(frontiers) is None:
            return None
        copy = BlockDocument()
        copy._doc = self._doc.fork_at(frontiers)
        return copy

    def merge(self, other: BlockDocument) -> None:
        """Merge another document's changes into this one."""
        other._doc.commit()
        self._doc.commit()
        self._doc.import_(other._doc.export(ExportMode.Updates(self._doc.oplog_vv)))

    def read(self) -> Block:
        """Return the block in the document.

        Raises:
            InvalidParametersError: the document does not hold a valid block.
        """
        header_values = self._values(_ABOUT)
        header: dict[str, JsonValue] = {name: json.loads(value) for name, value in header_values.items()}
        for name in _MAPS:
            header[name] = {key: json.loads(value) for key, value in self._values(name).items()}
        return build_block(header, self._content)

    def write(self, block: Block) -> None:
        """Update the document to match this block; only the differences are written."""
        header = block_header(block)
        for name in _MAPS:
            self._write_map(name, cast("Mapping[str, JsonValue]", header.pop(name, {})))
        self._write_map(_ABOUT, header)
        if isinstance(block.schema, CompositeSchema):
            values = cast("Mapping[str, PlainContent]", block.content)
            for section in block.schema.sections:
                self._write_plain(f"{_BODY}:{section.name}", section.content, values[section.name])
        else:
            self._write_plain(_BODY, block.schema, cast("PlainContent", block.content))
        self._doc.commit()

    # Reading

    def _values(self, container: str) -> dict[str, str]:
        """Return the values of a map, each as JSON."""
        return cast("dict[str, str]", self._doc.get_map(container).get_value())

    def _texts(self, container: str) -> list[str]:
        return cast("list[str]", self._doc.get_list(container).get_value())

    def _content(self, block: Block) -> Content:
        schema = block.schema
        if isinstance(schema, CompositeSchema):
            return {
                section.name: self._plain(f"{_BODY}:{section.name}", section.content)
                for section in schema.sections
            }
        return self._plain(_BODY, schema)

    def _plain(self, container: str, schema: Plain) -> PlainContent:
        match schema:
            case TextSchema():
                return self._doc.get_text(container).to_string()
            case ListSchema():
                return tuple(self._texts(container))
            case LogSchema():
                return tuple(LogEntry(*json.loads(text)) for text in self._texts(container))
            case MapSchema():
                return {field.name: self._field(container, field.name, field.kind) for field in schema.fields}

    def _field(self, container: str, name: str, kind: FieldKind) -> Any:  # noqa: ANN401 (any field value)
        name_in_container = f"{container}:{name}"
        match kind:
            case FieldKind.TEXT:
                return self._doc.get_text(name_in_container).to_string()
            case FieldKind.LIST:
                return tuple(self._texts(name_in_container))
            case FieldKind.COUNTER:
                return round(self._doc.get_counter(name_in_container).value)
            case _:
                value = self._values(container).get(name)
                return None if value is None else json.loads(value)

    # Writing

    def _write_map(self, container: str, values: Mapping[str, JsonValue]) -> None:
        target = self._doc.get_map(container)
        current = self._values(container)
        for name in current.keys() - values.keys():
            target.delete(name)
        for name, value in values.items():
            encoded = json.dumps(value, ensure_ascii=False)
            if current.get(name) != encoded:
                target.insert(name, encoded)

    def _write_plain(self, container: str, schema: Plain, content: PlainContent) -> None:
        match schema:
            case TextSchema():
                self._write_text(container, cast("str", content))
            case ListSchema():
                self._write_list(container, cast("tuple[str, ...]", content))
            case LogSchema():
                entries = cast("tuple[LogEntry, ...]", content)
                self._write_list(container, [json.dumps(entry, ensure_ascii=False) for entry in entries])
            case MapSchema():
                values = cast("Mapping[str, Any]", content)
                for field in schema.fields:
                    self._write_field(container, field.name, field.kind, values.get(field.name))

    def _write_field(self, container: str, name: str, kind: FieldKind, value: Any) -> None:  # noqa: ANN401
        name_in_container = f"{container}:{name}"
        match kind:
            case FieldKind.TEXT:
                self._write_text(name_in_container, value or "")
            case FieldKind.LIST:
                self._write_list(name_in_container, value or ())
            case FieldKind.COUNTER:
                counter = self._doc.get_counter(name_in_container)
                if difference := (value or 0) - round(counter.value):
                    counter.increment(difference)
            case _:
                self._write_value(container, name, value)

    def _write_value(self, container: str, name: str, value: JsonValue) -> None:
        target = self._doc.get_map(container)
        encoded = None if value is None else json.dumps(value)
        current = self._values(container).get(name)
        if encoded is not None and current != encoded:
            target.insert(name, encoded)
        elif encoded is None and current is not None:
            target.delete(name)

    def _write_text(self, container: str, text: str) -> None:
        target = self._doc.get_text(container)
        current = target.to_string()
        if current == text:
            return
        if max(len(current), len(text)) > _MAX_DIFFED_CHARS:
            target.update_by_line(text)
        else:
            target.update(text)

    def _write_list(self, container: str, items: Sequence[str]) -> None:
        target = self._doc.get_list(container)
        current = self._texts(container)
        matcher = SequenceMatcher(None, current, list(items), autojunk=False)
        for kind, start, end, new_start, new_end in reversed(matcher.get_opcodes()):
            if kind in ("delete", "replace"):
                target.delete(start, end - start)
            if kind in ("insert", "replace"):
                for position, item in enumerate(items[new_start:new_end], start):
                    target.insert(position, item)


@contextmanager
def _convert_loro_errors() -> Iterator[None]:
    """Convert loro's errors, which are bare `BaseException`s, to StorageError."""
    try:
        yield
    except BaseException as error:
        if type(error) is not BaseException:
            raise
        raise StorageError("The block's edit history is damaged. The block itself is unchanged.") from error
