"""The command for a tool: its options and positional arguments, derived from its schema."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.cli.argument_parsing import TextArguments, parse_boolean, parse_object, parse_value
from app.errors import InvalidParametersError
from app.toolkit.argument_types import ArgumentKind

if TYPE_CHECKING:
    from app.servers.vault_access import ToolDescriptor
    from app.toolkit.tool import OperationFields, Tool

OP = "op"


@dataclass(frozen=True, slots=True)
class ToolOption:
    """An argument of a tool. `schema` is flat; a list's item schema is nested in it."""

    name: str
    schema: Mapping[str, Any]
    required: bool
    kind: ArgumentKind = ArgumentKind.PLAIN

    @property
    def option(self) -> str:
        """The option on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def spellings(self) -> tuple[str, ...]:
        """The option with dashes and with underscores."""
        return tuple(dict.fromkeys((self.option, f"--{self.name}")))

    @property
    def metavar(self) -> str:
        """The placeholder for its value in the help."""
        return self.name.upper()

    @property
    def is_list(self) -> bool:
        """True if it takes a list, one item per use."""
        return self.schema.get("type") == "array"

    @property
    def is_object(self) -> bool:
        """True if it takes name-value pairs."""
        return self.schema.get("type") == "object"

    @property
    def is_switch(self) -> bool:
        """True if it is boolean."""
        return self.schema.get("type") == "boolean"

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed values; empty if any value is allowed."""
        return tuple(self.schema.get("enum", ()))


@dataclass(frozen=True)
class ToolParser:
    """The arguments of a tool on the command line.

    Positional arguments are the required ones in order, or the first string if none is required. A list or
    object takes the words after them (`shell sort a b`, `set_properties Tea status=draft`). An operation
    adds its required arguments, and its first optional one if that is a string (`file status Plan.txt`).
    """

    name: str
    description: str
    flags: tuple[ToolOption, ...]
    operations: Mapping[str, OperationFields]

    @classmethod
    def from_tool(cls, tool: Tool) -> ToolParser:
        """Return the parser for a built-in tool."""
        properties = tool.schema["properties"]
        flags = tuple(ToolOption(p.name, properties[p.name], p.required, p.kind) for p in tool.parameters)
        return cls(tool.name, tool.description, flags, tool.operations)

    @classmethod
    def from_descriptor(cls, entry: ToolDescriptor) -> ToolParser:
        """Return the parser for a tool known only to the open vault, for example one from another program."""
        schema = entry.input_schema
        required = schema.get("required", ())
        flags = tuple(
            ToolOption(name, property_schema, name in required)
            for name, property_schema in schema.get("properties", {}).items()
        )
        return cls(entry.name, entry.description, flags, {})

    @property
    def positionals(self) -> tuple[ToolOption, ...]:
        """The positional arguments that do not depend on the operation."""
        operation_arguments = frozenset().union(*(fields.takes for fields in self.operations.values()))
        always = [flag for flag in self.flags if flag.name not in operation_arguments]
        required = tuple(flag for flag in always if flag.required or flag.name == OP)
        if not required:
            return tuple(flag for flag in always if flag.schema.get("type") == "string")[:1]
        if self.operations or any(flag.is_list or flag.is_object for flag in required):
            return required
        return required + tuple(flag for flag in always if flag.is_list or flag.is_object)[:1]

    def positionals_for(self, op: str) -> tuple[ToolOption, ...]:
        """Return the positional arguments of a call with an operation."""
        if op not in self.operations:
            return self.positionals
        fields, flags_by_name = self.operations[op], {flag.name: flag for flag in self.flags}
        operation_flags = [flags_by_name[name] for name in fields.ordered if name in flags_by_name]
        required = [flag for flag in operation_flags if flag.name in fields.needs]
        optional = [flag for flag in operation_flags if flag.name not in fields.needs][:1]
        texts = [flag for flag in optional if flag.schema.get("type") == "string"]
        return (*self.positionals, *(flag for flag in (*required, *texts) if flag not in self.positionals))

    def usage(self) -> Iterator[str]:
        """Yield the forms of the command, one for each operation."""
        for op in self.operations or ("",):
            takes = self.operations[op].takes if op else frozenset()
            positionals = self.positionals_for(op)
            needs = self.operations[op].needs if op else frozenset()
            words = [
                op if flag.name == OP else _positional_usage(flag, needed=flag.name in needs)
                for flag in positionals
            ]
            operation_arguments = frozenset().union(*(fields.takes for fields in self.operations.values()))
            others = [
                f
                for f in self.flags
                if f not in positionals and (f.name in takes or f.name not in operation_arguments)
            ]
            yield " ".join([self.name, *words, *(f"[{_option_usage(flag)}]" for flag in others)])

    def add_arguments(self, parser: argparse.ArgumentParser, reserved: Sequence[str] = ()) -> None:
        """Add the options and positional arguments to `parser`.

        `reserved` options keep their meaning; an argument with such a name becomes `--argument-NAME`.
        """
        parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
        group = parser.add_argument_group("arguments")
        for flag in self.flags:
            spellings = [spelling for spelling in flag.spellings if spelling not in reserved]
            options: dict[str, Any] = {"dest": _argument_dest(flag), "help": _help(flag), "default": None}
            if flag.is_switch:
                negative = ["--no-" + spelling[2:] for spelling in spellings]
                group.add_argument(*spellings, **options, nargs="?", const="yes", metavar="yes|no")
                group.add_argument(
                    *negative,
                    dest=_argument_dest(flag),
                    action="store_const",
                    const="no",
                    help=argparse.SUPPRESS,
                )
            else:
                action = "append" if flag.is_list or flag.is_object else "store"
                group.add_argument(
                    *(spellings or [f"--argument-{flag.name}"]),
                    **options,
                    action=action,
                    metavar="NAME=VALUE" if flag.is_object else flag.metavar,
                )

    def read(self, args: argparse.Namespace, texts: TextArguments) -> dict[str, object]:
        """Return the call's arguments from the parsed options and words.

        Raises:
            InvalidParametersError: A value is invalid or can't be read, or there are too many words.
        """
        values: dict[str, list[str]] = {}
        for flag in self.flags:
            value = getattr(args, _argument_dest(flag), None)
            if value is not None:
                values[flag.name] = value if isinstance(value, list) else [value]
        self._place_words(list(args.words), values)
        flags_by_name = {flag.name: flag for flag in self.flags}
        return {name: _option_value(flags_by_name[name], words, texts) for name, words in values.items()}

    def _place_words(self, words: list[str], values: dict[str, list[str]]) -> None:
        positionals = [flag for flag in self.positionals if flag.name not in values]
        placed = self._assign_words(words, positionals, values)
        op = values.get(OP, [""])[0]
        if placed and op in self.operations:
            operation_positionals = [
                f for f in self.positionals_for(op) if f not in self.positionals and f.name not in values
            ]
            self._assign_words(words, operation_positionals, values)
        if words:
            forms = "\n  ".join(self.usage())
            raise InvalidParametersError(f"Unexpected argument: {words[0]!r}. Usage:\n  {forms}")

    @staticmethod
    def _assign_words(words: list[str], positionals: list[ToolOption], values: dict[str, list[str]]) -> bool:
        """Move words to the values of `positionals` in order; return whether each got one.

        A list or object at the end takes all remaining words.
        """
        for index, flag in enumerate(positionals):
            if not words:
                return False
            is_last = index == len(positionals) - 1
            count = len(words) if (flag.is_list or flag.is_object) and is_last else 1
            values[flag.name] = words[:count]
            del words[:count]
        return True


def _argument_dest(flag: ToolOption) -> str:
    return f"argument_{flag.name}"


def _option_value(flag: ToolOption, words: list[str], texts: TextArguments) -> object:
    try:
        if flag.is_object:
            return parse_object(words, texts)
        if flag.is_list:
            items = flag.schema.get("items", {})
            return [parse_value(items, flag.kind, word, texts) for word in words]
        if flag.is_switch:
            return parse_boolean(words[-1])
        return parse_value(flag.schema, flag.kind, words[-1], texts)
    except InvalidParametersError as error:
        raise InvalidParametersError(f"{flag.option}: {error.message}", **error.data) from error


def _positional_usage(flag: ToolOption, *, needed: bool) -> str:
    word = f"{flag.metavar}..." if flag.is_list or flag.is_object else flag.metavar
    return word if flag.required or needed else f"[{word}]"


def _option_usage(flag: ToolOption) -> str:
    if flag.is_switch:
        return f"--[no-]{flag.option[2:]}"
    value = "|".join(flag.choices) if flag.choices and len(flag.choices) <= 4 else flag.metavar
    return f"{flag.option} {'NAME=VALUE' if flag.is_object else value}"


def _help(flag: ToolOption) -> str:
    parts = [str(flag.schema.get("description", ""))]
    if flag.choices:
        parts.append(f"One of {', '.join(flag.choices)}.")
    default = flag.schema.get("default")
    if default not in (None, "", [], {}):
        parts.append(f"Default: {default}.")
    return " ".join(filter(None, parts)).replace("%", "%%")
