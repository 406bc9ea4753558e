"""Arguments of an external tool: a pydantic model that validates them against the tool's schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SkipValidation, create_model, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from app.errors import LimitError
from app.external.names import argument_names
from app.external.schema_simplifier import simplify_schema
from app.external.schemas import SchemaViolation, build_validator, find_violations
from app.toolkit.argument_types import ArgumentKind
from app.toolkit.schema import Schema
from app.toolkit.tool import Parameter

_BOUNDS = (("ge", "minimum"), ("le", "maximum"))
_KINDS: dict[object, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "object": dict}


class _NotGiven:
    """Sentinel type for an omitted argument, which differs from null."""

    def __repr__(self) -> str:
        return "(not given)"


NOT_GIVEN = _NotGiven()


class RemoteArguments(BaseModel):
    """Arguments of a call to an external tool; values are kept unchanged, never converted."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        validate_default=False,
        arbitrary_types_allowed=True,
        protected_namespaces=(),
    )

    @classmethod
    def _find_violations(cls, values: dict[str, object]) -> list[SchemaViolation]:
        """Return the violations of the tool's schema; each tool has a subclass that implements this."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _check_schema(self) -> Self:
        values = {name: getattr(self, name) for name in self.model_fields_set}
        try:
            violations = self._find_violations(values)
        except LimitError as error:
            violations = [SchemaViolation((), error.message)]
        if violations:
            raise ValidationError.from_exception_data(
                type(self).__name__,
                [
                    InitErrorDetails(
                        type=PydanticCustomError("schema", "{problem}", {"problem": violation.problem}),
                        loc=violation.path,
                        input=None,
                    )
                    for violation in violations
                ],
            )
        return self


@dataclass(frozen=True, slots=True)
class TranslatedArguments:
    """An external input schema, translated to our own form.

    Attributes:
        model: Validates the arguments against the server's schema.
        schema: The flat schema for models.
        parameters: The arguments, for the registry.
        server_names: The server's name of each argument, by our name.
    """

    model: type[RemoteArguments]
    schema: Schema
    parameters: tuple[Parameter, ...]
    server_names: Mapping[str, str]

    def for_server(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return the arguments under the server's names, without omitted ones."""
        return {self.server_names[name]: value for name, value in values.items() if value is not NOT_GIVEN}


def translate_arguments(checked: Schema, name: str) -> TranslatedArguments:
    """Translate a schema that `sanitize_schema` returned into the arguments of the tool `name`."""
    simplified = simplify_schema(checked, name)
    server_names = argument_names(simplified["properties"])
    own_names = {server_name: own_name for own_name, server_name in server_names.items()}
    required = {own_names[server_name] for server_name in simplified["required"] if server_name in own_names}
    properties = {own_names[server_name]: schema for server_name, schema in simplified["properties"].items()}
    parameters = tuple(
        _parameter(own_name, property_schema, own_name in required)
        for own_name, property_schema in properties.items()
    )
    fields: dict[str, Any] = {
        parameter.name: _field_type(parameter, properties[parameter.name]) for parameter in parameters
    }
    base: type[RemoteArguments] = _validating_class(checked, server_names)
    model = create_model(name, __base__=base, **fields)
    schema: Schema = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **({"required": sorted(required)} if required else {}),
    }
    return TranslatedArguments(model, schema, parameters, server_names)


def _validating_class(checked: Schema, server_names: Mapping[str, str]) -> type[RemoteArguments]:
    """Create a class that validates arguments against the schema `checked`."""
    validators: list[Any] = []
    own_names = {server_name: own_name for own_name, server_name in server_names.items()}

    class Checked(RemoteArguments):
        @classmethod
        def _find_violations(cls, values: dict[str, object]) -> list[SchemaViolation]:
            if not validators:  # compiled on the first call: most tools are never called
                validators.append(build_validator(checked))
            server_values = {server_names[name]: value for name, value in values.items()}
            return [
                SchemaViolation(
                    (own_names.get(str(violation.path[0]), violation.path[0]), *violation.path[1:]),
                    violation.problem,
                )
                if violation.path
                else violation
                for violation in find_violations(validators[0], server_values)
            ]

    return Checked


def _parameter(name: str, schema: Schema, required: bool) -> Parameter:
    is_list = schema.get("type") == "array"
    item_schema = schema.get("items", {}) if is_list else schema
    annotation = _KINDS.get(item_schema.get("type"), JsonValue)
    choices = tuple(choice for choice in schema.get("enum", ()) if isinstance(choice, str))
    if len(choices) != len(schema.get("enum", ())):
        choices = ()
    return Parameter(
        name,
        ArgumentKind.PLAIN,
        str if choices else annotation,
        required,
        schema.get("default"),
        schema.get("description", ""),
        choices,
        is_list,
    )


def _field_type(parameter: Parameter, schema: Schema) -> tuple[object, object]:
    """Return a field's type and definition; the type selects a form's control, and converts nothing."""
    kind: Any = Literal[parameter.choices] if parameter.choices else parameter.annotation
    if parameter.is_list:
        kind = list[kind]
    constraints: dict[str, Any] = {}
    if kind in (int, float):
        constraints = {keyword: schema[key] for keyword, key in _BOUNDS if key in schema}
    if parameter.required:
        return Annotated[kind, SkipValidation], Field(description=parameter.description, **constraints)
    return Annotated[Optional[kind], SkipValidation], Field(  # noqa: UP045 (built from a value, not a name)
        NOT_GIVEN, description=parameter.description, **constraints
    )
