"""The OpenAPI document of the HTTP API, built from the tools that a client may call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import __version__
from app.servers.vault_access import NAME_KINDS, ToolDescriptor

Json = dict[str, Any]

_EVENT_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}
_ERRORS = {
    "401": "The token is missing or unknown.",
    "403": "The caller may not do this, or the HTTP API is turned off.",
    "404": "Not found.",
    "409": "Conflict with a newer state.",
    "413": "The body is too large.",
    "422": "The arguments are not valid for the tool.",
    "429": "Too many calls; `Retry-After` says when to try again.",
}


def openapi(vault: str, address: str, tools: tuple[ToolDescriptor, ...]) -> Json:
    """Return the OpenAPI 3.1 document, with the schemas that calls and results are validated against.

    Args:
        vault: The vault's name.
        address: The base URL of the server.
        tools: The tools that the client may call.
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"Scriptorium: {vault}",
            "version": __version__,
            "description": (
                "The tools of an open vault. A call that changes something waits for the user's "
                "decision; with `Prefer: respond-async`, it returns the id of a pending operation "
                "instead."
            ),
        },
        "servers": [{"url": address}],
        "security": [{"token": []}],
        "tags": [{"name": name} for name in dict.fromkeys(tool.category for tool in tools)],
        "paths": {**_FIXED_PATHS, **{f"/api/v1/tools/{tool.name}": _path_item(tool) for tool in tools}},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR, "Pending": _PENDING},
            "responses": {f"E{code}": _error_response(text) for code, text in _ERRORS.items()},
            "parameters": {"Prefer": _PREFER, "Claim": _CLAIM},
        },
    }


def _path_item(tool: ToolDescriptor) -> Json:
    summary, _, _ = tool.description.partition("\n")
    call: Json = {
        "operationId": tool.name,
        "summary": summary,
        "description": tool.description,
        "tags": [tool.category],
        "requestBody": {
            "required": bool(tool.input_schema.get("required")),
            "content": {"application/json": {"schema": {"type": "object", **tool.input_schema}}},
        },
        "responses": {
            "200": _response("The outcome; a denial by the user is an outcome, too.", tool.output_schema),
            **_error_references("401", "403", "404", "409", "413", "422", "429"),
        },
    }
    if not tool.read_only:
        call["parameters"] = [
            {"$ref": "#/components/parameters/Prefer"},
            {"$ref": "#/components/parameters/Claim"},
        ]
        call["responses"]["202"] = _response(
            "The user is being asked; query the pending operation by its id.",
            {"$ref": "#/components/schemas/Pending"},
        )
    return {"post": call}


def _response(text: str, schema: Mapping[str, Any]) -> Json:
    return {"description": text, "content": {"application/json": {"schema": dict(schema)}}}


def _error_response(text: str) -> Json:
    return _response(text, {"$ref": "#/components/schemas/Error"})


def _error_references(*codes: str) -> Json:
    return {code: {"$ref": f"#/components/responses/E{code}"} for code in codes}


def _get_operation(operation_id: str, summary: str, *parameters: Json, response: Json | None = None) -> Json:
    locations = {parameter["in"] for parameter in parameters}
    errors = ["401", "403", "429"]
    if "path" in locations:
        errors.append("404")
    if "query" in locations:
        errors.append("422")
    operation: Json = {
        "operationId": operation_id,
        "summary": summary,
        "tags": ["vault"],
        "responses": {
            "200": response or _response("The answer.", {"type": "object"}),
            **_error_references(*errors),
        },
    }
    if parameters:
        operation["parameters"] = list(parameters)
    return operation


def _parameter(name: str, location: str, text: str, schema: Json) -> Json:
    return {
        "name": name,
        "in": location,
        "description": text,
        "required": location == "path",
        "schema": schema,
    }


_TEXT: Json = {"type": "string"}
_ERROR: Json = {
    "type": "object",
    "required": ["success", "error"],
    "properties": {
        "success": {"type": "boolean"},
        "error": {
            "type": "object",
            "required": ["type", "message"],
            "properties": {"type": _TEXT, "message": _TEXT},
            "additionalProperties": True,
        },
    },
}
_PENDING: Json = {
    "type": "object",
    "required": ["success", "pending_operation_id", "message"],
    "properties": {"success": {"type": "boolean"}, "pending_operation_id": _TEXT, "message": _TEXT},
}
_PREFER = _parameter("Prefer", "header", "`respond-async`: do not wait for the user.", _TEXT)
_CLAIM = _parameter(
    "Scriptorium-Claim",
    "header",
    "Your reason for the change, percent-encoded; it is shown to the user as your own words.",
    _TEXT,
)
_NAME = _parameter("name", "path", "The name of a tool.", _TEXT)
_ID = _parameter("id", "path", "The id of a pending operation.", _TEXT)
_STREAMED: Json = {
    "description": "Server-sent events until either side closes the stream.",
    "content": _EVENT_STREAM,
}
_FIXED_PATHS: Json = {
    "/api/v1/vault": {"get": _get_operation("vault", "The names of the vault and the client.")},
    "/api/v1/tools": {"get": _get_operation("tools", "The tools that you may call.")},
    "/api/v1/tools/{name}": {"get": _get_operation("tool", "One tool, with its schemas.", _NAME)},
    "/api/v1/pending": {
        "get": _get_operation("pending_operations", "Your pending and completed operations.")
    },
    "/api/v1/pending/{id}": {
        "get": _get_operation("pending_operation", "The state of an operation.", _ID),
        "delete": _get_operation(
            "cancel_pending_operation", "Cancel an operation that has not been decided yet.", _ID
        ),
    },
    "/api/v1/notes": {
        "get": _get_operation(
            "notes",
            "A page of the notes that you may see, sorted by path.",
            _parameter("after", "query", "Start after this path: the `next` of the previous page.", _TEXT),
            _parameter(
                "limit",
                "query",
                "Maximum number of notes.",
                {"type": "integer", "minimum": 1, "maximum": 1000},
            ),
        )
    },
    "/api/v1/complete": {
        "get": _get_operation(
            "complete",
            "Names that complete a text.",
            _parameter("kind", "query", "The kind of names.", {"type": "string", "enum": list(NAME_KINDS)}),
            _parameter("text", "query", "The text to complete.", _TEXT),
        )
    },
    "/api/v1/news": {"get": _get_operation("news", "Changes that you may see.", response=_STREAMED)},
    "/api/v1/activity": {
        "get": _get_operation("activity", "Events about your own calls.", response=_STREAMED)
    },
}
