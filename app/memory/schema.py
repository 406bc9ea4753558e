"""Schemas of blocks: text, a map of fields, a list, a log, or named sections of these."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError, model_validator

from app.errors import InvalidParametersError

Name = Annotated[str, Field(pattern=r"^[^\W\d][\w -]{0,59}$", description="One or a few words.")]


class FieldKind(StrEnum):
    """The type of a map field. A counter is a whole number whose concurrent increments add up."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    LIST = "list"
    TIMESTAMP = "timestamp"
    COUNTER = "counter"


class _Frozen(BaseModel):
    # Validators are built on first use: most vaults have no custom schema.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class MapField(_Frozen):
    """A map field. A `required` field must not be empty.

    `set_field` never changes a `read_only` field, and other edits to it require the `admin` permission.
    """

    name: Name
    kind: FieldKind = FieldKind.TEXT
    read_only: bool = False
    required: bool = False
    default: JsonValue = None


class TextSchema(_Frozen):
    """Plain text."""

    kind: Literal["text"] = "text"


class MapSchema(_Frozen):
    """Named fields."""

    kind: Literal["map"] = "map"
    fields: tuple[MapField, ...] = Field(min_length=1, max_length=200)

    @model_validator(mode="after")
    def _check_names(self) -> MapSchema:
        _check_unique([field.name for field in self.fields])
        return self


class ListSchema(_Frozen):
    """An ordered list of at most `max_items` items."""

    kind: Literal["list"] = "list"
    max_items: int | None = Field(None, ge=1, le=100_000)


class LogSchema(_Frozen):
    """Entries with the times when they were added; the newest `display_limit` are shown in the context."""

    kind: Literal["log"] = "log"
    display_limit: int = Field(20, ge=1, le=10_000)


Plain = TextSchema | MapSchema | ListSchema | LogSchema
PlainSchema = Annotated[Plain, Field(discriminator="kind")]


class SectionSchema(_Frozen):
    """A part of a composite block; the functions of `edits.py` never change a `read_only` one."""

    name: Name
    content: PlainSchema = TextSchema()
    read_only: bool = False


class CompositeSchema(_Frozen):
    """Named sections, each with its own schema."""

    kind: Literal["composite"] = "composite"
    sections: tuple[SectionSchema, ...] = Field(min_length=1, max_length=50)

    @model_validator(mode="after")
    def _check_names(self) -> CompositeSchema:
        _check_unique([section.name for section in self.sections])
        return self


Schema = Plain | CompositeSchema
_SCHEMA: TypeAdapter[Schema] = TypeAdapter(
    Annotated[Schema, Field(discriminator="kind")], config=ConfigDict(defer_build=True)
)


def parse_schema(value: object) -> Schema:
    """Parse a schema from JSON values, or from a word: "text", "list" or "log".

    Raises:
        InvalidParametersError: the value is not a schema.
    """
    try:
        return _SCHEMA.validate_python({"kind": value} if isinstance(value, str) else value)
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(str(part) for part in first["loc"])
        message = f"This is not a valid block schema: {location + ': ' if location else ''}{first['msg']}."
        raise InvalidParametersError(message) from error


def schema_json(schema: Schema) -> JsonValue:
    """Return the schema as JSON values, without defaults."""
    data: JsonValue = schema.model_dump(mode="json", exclude_defaults=True)
    assert isinstance(data, dict)
    if isinstance(schema, CompositeSchema):
        data["sections"] = [_section_json(section) for section in schema.sections]
    return {"kind": schema.kind, **data}


def _section_json(section: SectionSchema) -> JsonValue:
    data: dict[str, JsonValue] = {"name": section.name}
    if not isinstance(section.content, TextSchema):
        data["content"] = schema_json(section.content)
    return {**data, "read_only": True} if section.read_only else data


def _check_unique(names: list[str]) -> None:
    if len({name.casefold() for name in names}) < len(names):
        raise ValueError("two parts have the same name")
