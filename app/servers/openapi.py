"""The OpenAPI document of the HTTP API, made from the tools that a client may call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import __version__
from app.servers.vault_service import NAME_KINDS, ToolDescriptor

Json = dict[str, Any]

_EVENT_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}
_ERRORS = {
    "401": "No token, or one that is not known.",
    "403": "The caller may not do that, or the HTTP API is switched off.",
    "404": "There is nothing of that name.",
    "409": "Something else is there by now.",
    "413": "The body is too large.",
    "422": "The arguments are not what the tool takes.",
    "429": "Too many calls; `Retry-After` says when to try again.",
}


def openapi(vault: str, address: str, tools: tuple[ToolDescriptor, ...]) -> Json:
    """The document, for OpenAPI 3.1, whose schemas are those that calls and results are held to.

    Args:
        vault: The vault's name.
        address: The root of the server's addresses.
        tools: Those that the client may call.
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"Scriptorium: {vault}",
            "version": __version__,
            "description": (
                "The tools of an open vault. A call that changes something waits until the user has "
                "decided on it; with `Prefer: respond-async` it is answered with the id of a pending "
                "operation instead."
            ),
        },
        "servers": [{"url": address}],
        "security": [{"token": []}],
        "tags": [{"name": name} for name in dict.fromkeys(tool.category for tool in tools)],
        "paths": {**_FIXED_PATHS, **{f"/api/v1/tools/{tool.name}": _path(tool) for tool in tools}},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR, "Pending": _PENDING},
            "responses": {f"E{code}": _error_response(text) for code, text in _ERRORS.items()},
            "parameters": {"Prefer": _PREFER, "Claim": _CLAIM},
        },
    }


def _path(tool: ToolDescriptor) -> Json:
    summary, _, _ = tool.description.partition("\n")
    call: Json = {
        "operationId": tool.name,
        "summary": summary,
        "description": tool.description,
        "tags": [tool.category],
        "requestBody": {
            "required": bool(tool.input_schema.get("required")),
            "content": {"application/json": {"schema": _body_schema(tool.input_schema)}},
        },
        "responses": {
            "200": _response("What came of it; denied by the user is an answer, too.", tool.output_schema),
            **_failures("401", "403", "404", "409", "413", "422", "429"),
        },
    }
    if not tool.read_only:
        call["parameters"] = [
            {"$ref": "#/components/parameters/Prefer"},
            {"$ref": "#/components/parameters/Claim"},
        ]
        call["responses"]["202"] = _response(
            "The user is being asked; ask for it by its id.", {"$ref": "#/components/schemas/Pending"}
        )
    return {"post": call}


def _body_schema(schema: Mapping[str, Any]) -> Json:
    return {"type": "object", **schema}


def _response(text: str, schema: Mapping[str, Any]) -> Json:
    return {"description": text, "content": {"application/json": {"schema": dict(schema)}}}


def _error_response(text: str) -> Json:
    return _response(text, {"$ref": "#/components/schemas/Error"})


def _failures(*codes: str) -> Json:
    return {code: {"$ref": f"#/components/responses/E{code}"} for code in codes}


def _get_operation(id: str, summary: str, *parameters: Json, answer: Json | None = None) -> Json:
    operation: Json = {
        "operationId": id,
        "summary": summary,
        "tags": ["vault"],
        "responses": {
            "200": answer or _response("The answer.", {"type": "object"}),
            **_failures("401", "403"),
        },
    }
    if parameters:
        operation["parameters"] = list(parameters)
    return operation


def _parameter(name: str, where: str, text: str, schema: Json) -> Json:
    return {"name": name, "in": where, "description": text, "required": where == "path", "schema": schema}


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
    "Scriptorium-Claim", "header", "What you say of the change, percent-encoded; it is shown apart.", _TEXT
)
_NAME = _parameter("name", "path", "A tool.", _TEXT)
_ID = _parameter("id", "path", "The id of a pending operation.", _TEXT)
_STREAMED: Json = {"description": "Server-sent events, until one side ends.", "content": _EVENT_STREAM}
_FIXED_PATHS: Json = {
    "/api/v1/vault": {"get": _get_operation("vault", "The vault's name, and as whom you are known.")},
    "/api/v1/tools": {"get": _get_operation("tools", "The tools that you may call.")},
    "/api/v1/tools/{name}": {"get": _get_operation("tool", "One tool, with its schemas.", _NAME)},
    "/api/v1/pending": {
        "get": _get_operation("pending_operations", "Your operations that wait or have ended.")
    },
    "/api/v1/pending/{id}": {
        "get": _get_operation("pending_operation", "What became of one of them.", _ID),
        "delete": _get_operation("cancel_pending_operation", "Take one back that is not decided yet.", _ID),
    },
    "/api/v1/notes": {
        "get": _get_operation(
            "notes",
            "The notes that you may see, by path, a page at a time.",
            _parameter("after", "query", "Begin behind this path: the `next` of the page before.", _TEXT),
            _parameter("limit", "query", "How many.", {"type": "integer", "minimum": 1, "maximum": 1000}),
        )
    },
    "/api/v1/complete": {
        "get": _get_operation(
            "complete",
            "Names that go on from a text.",
            _parameter("kind", "query", "Names of what.", {"type": "string", "enum": list(NAME_KINDS)}),
            _parameter("text", "query", "What was typed so far.", _TEXT),
        )
    },
    "/api/v1/news": {"get": _get_operation("news", "What changes, as far as you see it.", answer=_STREAMED)},
    "/api/v1/activity": {"get": _get_operation("activity", "What your own calls come to.", answer=_STREAMED)},
}
