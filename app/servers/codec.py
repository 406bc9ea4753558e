"""Convert outcomes, tools, progress, changes and errors to and from JSON for the local server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from app import errors
from app.errors import ScriptoriumError
from app.servers.vault_access import CallProgress, ToolDescriptor, VaultChange
from app.toolkit.call import ModelUsage
from app.toolkit.outcome import ToolOutcome

API_PREFIX = "/api/v1"
"""Path prefix of the HTTP API."""
Json = dict[str, Any]
_MODEL_USAGE = "inside"
"""The name of `ToolOutcome.model_usage` in the protocol."""
_ERRORS = {
    error_class.type: error_class
    for error_class in (
        errors.NotFoundError,
        errors.AmbiguousError,
        errors.PermissionDeniedError,
        errors.InvalidParametersError,
        errors.ConflictError,
        errors.TimeoutExpiredError,
        errors.LimitError,
        errors.NetworkError,
        errors.StorageError,
    )
}
_STATUS = {
    "not_found": 404,
    "ambiguous": 409,
    "permission_denied": 403,
    "invalid_parameters": 422,
    "conflict": 409,
    "timeout": 504,
    "limit": 429,
    "network": 502,
    "storage": 507,
    "cancelled": 409,
}


OUTCOME_TYPE = "application/vnd.scriptorium.outcome+json"
"""Media type for a complete outcome in one response, without stages."""


def status_of(outcome: ToolOutcome) -> int:
    """Return the HTTP status of an outcome: 202 if it is pending, 200 if it has no error."""
    if outcome.pending:
        return 202
    return 200 if outcome.error is None else status_of_error(str(outcome.error.get("type")))


def status_of_error(error_type: str) -> int:
    """Return the HTTP status for an error type; 500 if it is unknown."""
    return _STATUS.get(error_type, 500)


def outcome_to_wire(outcome: ToolOutcome) -> Json:
    """Encode all fields of an outcome."""
    fields = asdict(outcome)
    fields[_MODEL_USAGE] = fields.pop("model_usage")
    return fields


def outcome_from_wire(data: Mapping[str, Any]) -> ToolOutcome:
    """Decode an outcome; ignore unknown top-level fields from other versions."""
    fields = {name: data[name] for name in ToolOutcome.__slots__ if name in data}
    fields["model_usage"] = ModelUsage(**data.get(_MODEL_USAGE, {}))
    return ToolOutcome(**fields)


def descriptor_to_wire(descriptor: ToolDescriptor) -> Json:
    """Encode a tool descriptor."""
    return asdict(descriptor)


def descriptor_from_wire(data: Mapping[str, Any]) -> ToolDescriptor:
    """Decode a tool descriptor."""
    return ToolDescriptor(**{name: data[name] for name in ToolDescriptor.__slots__})


def progress_to_wire(progress: CallProgress) -> Json:
    """Encode the progress of a call."""
    return asdict(progress)


def progress_from_wire(data: Mapping[str, Any]) -> CallProgress:
    """Decode the progress of a call."""
    return CallProgress(data["stage"], str(data["message"]))


def change_to_wire(change: VaultChange) -> Json:
    """Encode a change."""
    return asdict(change)


def change_from_wire(data: Mapping[str, Any]) -> VaultChange:
    """Decode a change."""
    return VaultChange(data["kind"], tuple(map(str, data["paths"])), bool(data.get("listed")))


def error_from_wire(data: object) -> ScriptoriumError:
    """Decode the error in a server's response; return a `NetworkError` if it holds none."""
    error = cast("Mapping[str, Any]", data.get("error")) if isinstance(data, Mapping) else None
    if not isinstance(error, Mapping):
        return errors.NetworkError("The app sent an invalid response.")
    details = {str(name): value for name, value in error.items() if name not in ("type", "message")}
    kind = _ERRORS.get(str(error.get("type")), ScriptoriumError)
    return kind(str(error.get("message", "")), **details)
