"""Sentences about values that a pydantic model rejects, for the forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from app.desktop.runtime.translation import PluralText, translate, translate_setting
from app.desktop.widgets.model_form import field_bounds, strip_annotations
from app.permissions.tool_label import argument_label
from app.sentence import as_sentence
from app.settings import NAME_PATTERN

_QUOTED = re.compile(r"'([^']*)'")
_NUMBER_TYPES = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")


def problem_text(problem: ErrorDetails, model: type[BaseModel]) -> str:
    """Return a sentence that names the rejected field of `model` and says which values it takes.

    A problem that a validator of our own reports keeps its words.
    """
    label, field = _find_field(problem["loc"], model)
    kind, context = problem["type"], problem.get("ctx", {})
    if not label or kind == "value_error":
        return as_sentence(str(context.get("error", problem["msg"])))
    if kind == "missing" or (kind in ("string_too_short", "too_short") and context.get("min_length") == 1):
        return required_text(label)
    if kind in _NUMBER_TYPES or kind.startswith(("int_", "float_", "finite_")):
        return _number_text(label, field, kind, context)
    return _rule_text(label, kind, context) or translate("Validation", "“{0}”: {1}").format(
        label, as_sentence(problem["msg"])
    )


def required_text(label: str) -> str:
    """Return a sentence about a field that must not be empty."""
    return translate("Validation", "“{0}” is required.").format(label)


def _find_field(location: tuple[int | str, ...], model: type[BaseModel]) -> tuple[str, FieldInfo | None]:
    """Return the label and definition of the innermost field at `location`; "" and None without a field."""
    label, field = "", None
    kind: object = model
    for part in location:
        if not (isinstance(part, str) and isinstance(kind, type) and issubclass(kind, BaseModel)):
            continue
        if (found := kind.model_fields.get(part)) is None:
            break
        field = found
        label = translate_setting(field.title) if field.title else argument_label(part)
        kind, _ = strip_annotations(field.annotation)
        if get_origin(kind) in (tuple, list):
            kind, _ = strip_annotations(get_args(kind)[0])
    return label, field


def _number_text(label: str, field: FieldInfo | None, kind: str, context: Mapping[str, object]) -> str:
    low, high = (None, None) if field is None else field_bounds(field)
    low = low if low is not None else _number(context, "ge", "gt")
    high = high if high is not None else _number(context, "le", "lt")
    annotation = None if field is None else strip_annotations(field.annotation)[0]
    is_whole = kind.startswith("int_") or annotation is int
    bounds = tuple(f"{bound:,.10g}" for bound in (low, high) if bound is not None)
    if low is not None and high is not None:
        text = (
            translate("Validation", "“{0}” must be a whole number from {1} to {2}.")
            if is_whole
            else translate("Validation", "“{0}” must be a number from {1} to {2}.")
        )
    elif low is not None:
        text = (
            translate("Validation", "“{0}” must be a whole number, at least {1}.")
            if is_whole
            else translate("Validation", "“{0}” must be a number, at least {1}.")
        )
    elif high is not None:
        text = (
            translate("Validation", "“{0}” must be a whole number, at most {1}.")
            if is_whole
            else translate("Validation", "“{0}” must be a number, at most {1}.")
        )
    else:
        text = (
            translate("Validation", "“{0}” must be a whole number.")
            if is_whole
            else translate("Validation", "“{0}” must be a number.")
        )
    return text.format(label, *bounds)


def _rule_text(label: str, kind: str, context: Mapping[str, object]) -> str:
    """Return what a value other than a number must be; empty for an unknown kind of problem."""
    match kind:
        case "string_too_long":
            text = PluralText(
                "Validation", "“{1}” can have {0} character.", "“{1}” can have at most {0} characters."
            )
            return text.format(_count(context["max_length"]), label)
        case "too_long":
            text = PluralText(
                "Validation", "“{1}” can have {0} entry.", "“{1}” can have at most {0} entries."
            )
            return text.format(_count(context["max_length"]), label)
        case "string_too_short":
            text = PluralText(
                "Validation", "“{1}” needs {0} character.", "“{1}” needs at least {0} characters."
            )
            return text.format(_count(context["min_length"]), label)
        case "too_short":
            text = PluralText("Validation", "“{1}” needs {0} entry.", "“{1}” needs at least {0} entries.")
            return text.format(_count(context["min_length"]), label)
        case "literal_error" | "enum":
            choices = _QUOTED.sub(r"“\1”", str(context["expected"]))
            return translate("Validation", "“{0}” must be {1}.").format(label, choices)
        case "string_pattern_mismatch" if context["pattern"] == NAME_PATTERN:
            return translate(
                "Validation",
                "“{0}” must start with a letter. It can have up to 40 letters, digits, underscores, "
                "spaces, periods, apostrophes and hyphens.",
            ).format(label)
        case "string_pattern_mismatch":
            return translate("Validation", "“{0}” does not have the required form.").format(label)
        case "string_type":
            return translate("Validation", "“{0}” must be text.").format(label)
        case "list_type" | "tuple_type" | "set_type":
            return translate("Validation", "“{0}” must be a list.").format(label)
        case "dict_type" | "model_type" | "model_attributes_type":
            return translate("Validation", "“{0}” must have a name and a value on each line.").format(label)
    return ""


def _number(context: Mapping[str, object], *names: str) -> float | None:
    value = next((context[name] for name in names if name in context), None)
    return value if isinstance(value, int | float) else None


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
