"""A tool: one annotated async function; everything that front ends need is derived from it.

    @tool(category="tags", examples=("tag {name} with {tag}",))
    async def add_tag(context: ToolContext, name: NoteName, tag: TagName) -> Proposal[TagChanged]:
        \"\"\"Add a tag to a note. (Then `Args:` describes `name` and `tag`.)\"\"\"
        note = await context.vault.resolve_strictly(name)
        text = tag_edits.add_tag(note.text, tag)
        return context.propose(ChangeSet.of(note.with_text(text)), TagChanged(message=...))

The tool takes its name from the function, its description from the docstring and its arguments model from
the signature. The return type declares what it may change: a `ToolResult` (reads only), a `Proposal` of one
(changes notes), an `EffectProposal` of one (acts outside the notes), or a union of these.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model

from app.errors import InvalidParametersError
from app.toolkit.argument_types import ArgumentKind, Slot
from app.toolkit.docstring import Documentation, parse_docstring
from app.toolkit.proposal import EffectProposal, Proposal
from app.toolkit.result import ToolResult
from app.toolkit.schema import Schema, flat_schema, keep_operations, keep_properties

Answer = ToolResult | Proposal[Any] | EffectProposal[Any]
Function = Callable[..., Awaitable[Answer]]

_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument: the source of a command-line flag, a form field or a slot of an example.

    `annotation` is the Python type without its metadata. `default` is None if the argument is `required`.
    `choices` are the allowed values of a closed choice; `is_list`: the argument takes a list.
    """

    name: str
    kind: ArgumentKind
    annotation: object
    required: bool
    default: object
    description: str
    choices: tuple[str, ...] = ()
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class OperationFields:
    """The arguments of one operation of a tool.

    `needs` are the required ones, `takes` are all, and `ordered` are all in the declared order.
    """

    needs: frozenset[str]
    takes: frozenset[str]
    ordered: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tool:
    """A tool, ready to be registered; created by `@tool`.

    `proposes`: the tool may propose a change or an effect; `changes_notes`: a change. `always_asks`: the
    user sees each call that proposes something, regardless of grants. `rate_per_minute` limits the tool in
    addition to its category; `timeout` is in seconds and excludes the time that the user takes.
    `taints`: its results contain text from outside, so the user must approve every change that a reader of
    them proposes. `acts`: it has an effect even without a proposal.
    `read_operations` are the operations that change nothing. `write_arguments` are the arguments that make
    a call change something; a call without them is read-only. A read-only caller is offered neither the
    other operations nor these arguments; a tool that has an effect and declares neither is not offered.
    `creates_only`: it creates files and changes no existing one, which the gate enforces.
    `examples_of` are the examples of each operation, where they identify one.
    `make_arguments` and `make_schema` are called on first use, so that a command that calls one tool builds
    the model of that tool only.
    """

    name: str
    category: str
    summary: str
    description: str
    make_arguments: Callable[[], type[BaseModel]]
    result: type[ToolResult]
    parameters: tuple[Parameter, ...]
    examples: tuple[str, ...]
    usage_rule: str
    proposes: bool
    changes_notes: bool
    function: Function
    operations: Mapping[str, OperationFields] = field(default_factory=dict)
    always_asks: bool = False
    rate_per_minute: int | None = None
    timeout: float = 60.0
    taints: bool = False
    acts: bool = False
    creates_only: bool = False
    read_operations: tuple[str, ...] = ()
    write_arguments: tuple[str, ...] = ()
    examples_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    make_schema: Callable[[], Schema] | None = None

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The model that validates the arguments."""
        return self.make_arguments()

    @cached_property
    def schema(self) -> Schema:
        """The flat JSON schema of the arguments."""
        if self.make_schema is not None:
            return self.make_schema()
        return flat_schema(self.arguments)

    @cached_property
    def nullable(self) -> frozenset[str]:
        """The arguments that take any JSON value, for which null is a value and not an omission."""
        return frozenset(p.name for p in self.parameters if p.annotation is JsonValue)

    @property
    def output_schema(self) -> Schema:
        """The flat JSON schema of the result, which marks the values that may be null."""
        return flat_schema(self.result, nullable=True)

    def with_only(self, operations: tuple[str, ...]) -> Tool:
        """Return this tool, restricted to these operations and their arguments."""
        kept_operations = tuple(op for op in self.operations if op in operations)
        if kept_operations == tuple(self.operations):
            return self
        kept_arguments = frozenset().union(*(self.operations[op].takes for op in kept_operations))
        operation_arguments = frozenset().union(*(fields.takes for fields in self.operations.values()))
        shared_arguments = {p.name for p in self.parameters} - operation_arguments
        shown_arguments = kept_arguments | shared_arguments
        return replace(
            self,
            make_schema=lambda: keep_operations(self.schema, kept_operations, shown_arguments),
            operations={op: self.operations[op] for op in kept_operations},
            parameters=tuple(
                replace(p, choices=kept_operations) if p.name == "op" else p
                for p in self.parameters
                if p.name in shown_arguments
            ),
        )

    def read_only_variant(self) -> Tool | None:
        """Return this tool, restricted to its read-only part; None if it has none."""
        if not self.proposes and not self.acts:
            return self
        if not self.read_operations and not self.write_arguments:
            return None
        part = self.with_only(self.read_operations) if self.read_operations else self
        shown_arguments = frozenset(p.name for p in part.parameters) - frozenset(self.write_arguments)
        return replace(
            part,
            make_schema=lambda: keep_properties(part.schema, shown_arguments),
            parameters=tuple(p for p in part.parameters if p.name in shown_arguments),
            proposes=False,
            changes_notes=False,
            acts=False,
        )

    def is_read_only_call(self, op: str, arguments: BaseModel) -> bool:
        """Return whether a call of the operation `op`, or of a tool without operations, is read-only."""
        part = self.read_only_variant()
        if part is None or (op and part.operations and op not in part.operations):
            return False
        return not any(getattr(arguments, name, None) for name in self.write_arguments)

    def check_operation(self, arguments: BaseModel) -> str:
        """Return the operation that `arguments` select; empty for a tool with only one.

        Raises:
            InvalidParametersError: an argument that the operation needs is missing, or the operation does
                not take one of the given arguments.
        """
        if not self.operations:
            return ""
        op = str(getattr(arguments, "op", ""))
        fields = self.operations[op]
        given_arguments = {
            name for name in arguments.model_fields_set if getattr(arguments, name) is not None
        }
        # Some clients send null for an omitted argument, so null is never an error for an operation.
        nulls = self.nullable & arguments.model_fields_set
        missing = sorted(fields.needs - given_arguments - nulls)
        operation_arguments = frozenset().union(*(operation.takes for operation in self.operations.values()))
        unexpected = sorted((given_arguments & operation_arguments) - fields.takes)
        if missing or unexpected:
            problems = [f"needs {', '.join(missing)}"] if missing else []
            problems += [f"does not take {', '.join(unexpected)}"] if unexpected else []
            raise InvalidParametersError(
                f"{self.name}: the operation {op} {' and '.join(problems)}.",
                op=op,
                missing=missing,
                not_taken=unexpected,
            )
        return op


def tool(
    *,
    category: str,
    examples: tuple[str, ...] | Mapping[str, tuple[str, ...]] = (),
    usage_rule: str = "",
    operations: Mapping[str, str] | None = None,
    always_asks: bool = False,
    rate_per_minute: int | None = None,
    timeout: float = 60.0,
    taints: bool = False,
    acts: bool = False,
    creates_only: bool = False,
    read_operations: tuple[str, ...] = (),
    write_arguments: tuple[str, ...] = (),
) -> Callable[[Function], Tool]:
    """Make a tool from an async function whose first parameter is `context`, of type `ToolContext`.

    Args:
        category: The id of its category.
        examples: Requests in the users' own words, with `{slot}`s named after arguments; a tool with several
            operations may give them by operation.
        usage_rule: A sentence for the agent's prompt.
        operations: For a tool with an `op: Literal[...]` argument: the arguments of each operation, such as
            "text old occurrence?" (a question mark marks an optional one). Arguments that no operation
            names belong to all.
        always_asks: The user sees every proposal, regardless of grants.
        rate_per_minute: The maximum number of calls per minute and caller, in addition to the category's.
        timeout: The maximum duration of the function in seconds.
        taints: Its results contain text from outside the vault.
        acts: It has an effect even without a proposal.
        creates_only: It creates files and changes no existing one.
        read_operations: The operations that change nothing.
        write_arguments: The arguments that make a call change something.

    Raises:
        TypeError: the function can't be a tool; the message says why.
    """

    def decorate(function: Function) -> Tool:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{function.__name__}: a tool must be an async function")
        hints = get_type_hints(function, include_extras=True)
        result, kinds = _read_return(function.__name__, hints.get("return"))
        documentation = parse_docstring(function.__doc__)
        parameters = _parameters(function, hints, documentation)
        examples_of = examples if isinstance(examples, Mapping) else {}
        all_examples = tuple(
            example for operation_examples in examples_of.values() for example in operation_examples
        ) or tuple(examples)
        tool_ = Tool(
            name=function.__name__,
            category=category,
            summary=documentation.summary,
            description=documentation.text,
            make_arguments=cache(lambda: _arguments_model(function, hints, parameters)),
            result=result,
            parameters=parameters,
            examples=all_examples,
            usage_rule=usage_rule,
            proposes=bool(kinds),
            changes_notes=Proposal in kinds,
            function=function,
            operations=_read_operations(operations or {}),
            always_asks=always_asks,
            rate_per_minute=rate_per_minute,
            timeout=timeout,
            taints=taints,
            acts=acts,
            creates_only=creates_only,
            read_operations=read_operations,
            write_arguments=write_arguments,
            examples_of=examples_of,
        )
        _check(tool_)
        return tool_

    return decorate


def _read_return(name: str, annotation: object) -> tuple[type[ToolResult], set[object]]:
    """Return the class of the result and the kinds of proposal that the return annotation declares."""
    is_union = get_origin(annotation) in (Union, types.UnionType)
    results: set[type[ToolResult]] = set()
    kinds: set[object] = set()
    for option in get_args(annotation) if is_union else (annotation,):
        inner: object = option
        if get_origin(option) in (Proposal, EffectProposal):
            kinds.add(get_origin(option))
            inner = get_args(option)[0]
        if not (isinstance(inner, type) and issubclass(inner, ToolResult)):
            raise TypeError(f"{name}: returns {option!r}, not a ToolResult or a proposal of one")
        results.add(inner)
    if len(results) != 1:
        raise TypeError(f"{name}: returns several result classes; a tool must have exactly one")
    return results.pop(), kinds


def _parameters(
    function: Function, hints: Mapping[str, Any], documentation: Documentation
) -> tuple[Parameter, ...]:
    signature = list(inspect.signature(function).parameters.values())
    if not signature or signature[0].name != "context":
        raise TypeError(f"{function.__name__}: the first parameter of a tool must be `context`")
    parameters = []
    for parameter in signature[1:]:
        if (
            parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
            or parameter.name not in hints
        ):
            raise TypeError(f"{function.__name__}: {parameter.name} needs an annotation and a name")
        if parameter.name not in documentation.arguments:
            raise TypeError(f"{function.__name__}: the docstring's Args do not describe {parameter.name}")
        required = parameter.default is parameter.empty
        parameters.append(
            _parameter(
                parameter.name,
                hints[parameter.name],
                required,
                parameter.default,
                documentation.arguments[parameter.name],
            )
        )
    return tuple(parameters)


def _parameter(name: str, hint: object, required: bool, default: object, description: str) -> Parameter:
    kind, annotation, is_list = ArgumentKind.PLAIN, hint, False
    choices: tuple[str, ...] = ()
    pending = [hint]
    while pending:
        annotated = pending.pop()
        origin = get_origin(annotated)
        if origin is Annotated:
            kind = next((mark.kind for mark in get_args(annotated)[1:] if isinstance(mark, Slot)), kind)
            pending.append(get_args(annotated)[0])
        elif origin in (Union, types.UnionType):
            pending += [option for option in reversed(get_args(annotated)) if option is not type(None)]
        elif origin is list:
            is_list = True
            pending.append(get_args(annotated)[0])
        elif origin is Literal:
            choices, annotation = get_args(annotated), str
        else:
            annotation = annotated
    return Parameter(
        name, kind, annotation, required, None if required else default, description, choices, is_list
    )


def _arguments_model(
    function: Function, hints: Mapping[str, Any], parameters: tuple[Parameter, ...]
) -> type[BaseModel]:
    fields: dict[str, Any] = {
        p.name: (
            hints[p.name],
            Field(description=p.description) if p.required else Field(p.default, description=p.description),
        )
        for p in parameters
    }
    config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, validate_default=False)
    title = "".join(part.capitalize() for part in function.__name__.split("_"))
    model: type[BaseModel] = create_model(f"{title}Arguments", __config__=config, **fields)
    return model


def _read_operations(operations: Mapping[str, str]) -> Mapping[str, OperationFields]:
    fields = {}
    for op, text in operations.items():
        words = text.split()
        needs = frozenset(word for word in words if not word.endswith("?"))
        ordered = tuple(word.rstrip("?") for word in words)
        fields[op] = OperationFields(needs, frozenset(ordered), ordered)
    return fields


def _check(tool_: Tool) -> None:
    """Check that the declaration of a tool is complete and consistent.

    Raises:
        TypeError: the declaration is incomplete or inconsistent; the message names the problem.
    """
    names = {parameter.name for parameter in tool_.parameters}
    problem = "" if tool_.description else "it has no description"
    if unknown_operations := set(tool_.examples_of) - set(tool_.operations):
        problem = f"examples of {sorted(unknown_operations)[0]!r}, which is not an operation"
    for example in tool_.examples:
        if unknown_slots := set(_SLOT.findall(example)) - names:
            problem = (
                f"the example {example!r} has a slot {sorted(unknown_slots)[0]!r} that is not an argument"
            )
    for op, fields in tool_.operations.items():
        if unknown_arguments := fields.takes - names:
            problem = f"the operation {op} takes {sorted(unknown_arguments)[0]!r}, which is not an argument"
    unknown_reads = set(tool_.read_operations) - set(tool_.operations)
    if unknown_names := unknown_reads | (set(tool_.write_arguments) - names):
        problem = f"{sorted(unknown_names)[0]!r} is not an operation or argument"
    choices = next((p.choices for p in tool_.parameters if p.name == "op"), ())
    if set(choices) != set(tool_.operations):
        problem = "`op` and `operations` name different operations"
    if problem:
        raise TypeError(f"{tool_.name}: {problem}")
