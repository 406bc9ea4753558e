"""The tools, resources and prompts that the protocol's conformance suite expects of a server.

They are added to those of the vault in the handlers of the app's server; the path to them (transport,
sessions, guard, errors, subscriptions) is that of every client.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as t
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged

from app.servers.mcp_progress import Context, accepts_log

_KEY = secrets.token_bytes(32)
PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e2"
        "21bc330000000049454e44ae426082"
    )
).decode()
_HEAD = b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00"
WAV = base64.b64encode(_HEAD).decode()
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
Fixture = Callable[[Context, t.CallToolRequestParams], Awaitable[Any]]


def text(words: str) -> t.CallToolResult:
    return t.CallToolResult(content=[t.TextContent(text=words)])


def embedded(uri: str) -> t.EmbeddedResource:
    words = "This is an embedded resource content."
    held = t.TextResourceContents(uri=uri, mime_type="text/plain", text=words)
    return t.EmbeddedResource(resource=held)


IMAGE = t.ImageContent(data=PNG, mime_type="image/png")
AUDIO = t.AudioContent(data=WAV, mime_type="audio/wav")


async def simple(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    return text("This is a simple text response for testing.")


async def image(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    return t.CallToolResult(content=[IMAGE])


async def audio(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    return t.CallToolResult(content=[AUDIO])


async def resource(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    return t.CallToolResult(content=[embedded("test://embedded-resource")])


async def mixed(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    first, last = (
        t.TextContent(text="Multiple content types test:"),
        embedded("test://mixed-content-resource"),
    )
    parts = [first, IMAGE, last]
    return t.CallToolResult(content=parts)


async def failing(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    words = "This tool intentionally returns an error for testing"
    return t.CallToolResult(content=[t.TextContent(text=words)], is_error=True)


async def say(ctx: Context, words: str) -> None:
    notification = t.LoggingMessageNotification(
        params=t.LoggingMessageNotificationParams(level="info", logger="fixture", data=words)
    )
    await ctx.session.send_notification(notification, ctx.request_id)


async def logging(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        if ctx.protocol_version < "2026" or accepts_log(ctx):
            await say(ctx, words)
        await asyncio.sleep(0.05)
    return text("Tool with logging executed successfully")


async def progressing(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(0.05)
    return text("Tool with progress executed successfully")


async def reconnecting(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
        await asyncio.sleep(0.2)
    return text("Reconnection test completed successfully")


# Requests to the client in the 2025 era


async def sampling(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    prompt = str((params.arguments or {}).get("prompt", ""))
    message = t.SamplingMessage(role="user", content=t.TextContent(text=prompt))
    request = t.CreateMessageRequest(params=t.CreateMessageRequestParams(messages=[message], max_tokens=100))
    answer = await asked(ctx, request, t.CreateMessageResult)
    words = answer.content.text if isinstance(answer.content, t.TextContent) else ""
    return text(f"LLM response: {words}")


async def asked(ctx: Context, request: Any, kind: Any) -> Any:
    from mcp.shared.message import ServerMessageMetadata

    related = ServerMessageMetadata(related_request_id=ctx.request_id)
    return await ctx.session.send_request(request, kind, metadata=related)


async def elicited(ctx: Context, message: str, schema: dict[str, Any]) -> t.CallToolResult:
    answer = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return text(f"User response: action={answer.action}, content={json.dumps(answer.content)}")


async def eliciting(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    fields = {name: {"type": "string", "description": f"User's {name}"} for name in ("username", "email")}
    schema = {"type": "object", "properties": fields, "required": ["username", "email"]}
    return await elicited(ctx, str((params.arguments or {}).get("message", "?")), schema)


async def defaults(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    schema = {"type": "object", "properties": fields, "required": []}
    return await elicited(ctx, "Please review and update the form fields with defaults", schema)


async def enums(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    words = list(enumerate(("First", "Second", "Third"), 1))
    named = [{"const": f"value{i}", "title": f"{word} Option"} for i, word in words]
    many = [{"const": f"value{i}", "title": f"{word} Choice"} for i, word in words]
    plain = ["option1", "option2", "option3"]
    fields = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": named},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["One", "Two", "Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": many}},
    }
    schema = {"type": "object", "properties": fields, "required": []}
    return await elicited(ctx, "Please select options", schema)


# Requests to the client in the 2026 era


def question(name: str) -> t.ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    form = t.ElicitRequestFormParams(message=f"What is your {name}?", requested_schema=schema)
    return t.ElicitRequest(params=form)


def sample() -> t.CreateMessageRequest:
    words = t.TextContent(text="What is the capital of France?")
    message = t.SamplingMessage(role="user", content=words)
    return t.CreateMessageRequest(params=t.CreateMessageRequestParams(messages=[message], max_tokens=100))


def sealed(value: str) -> str:
    return f"{value}.{hmac.new(_KEY, value.encode(), hashlib.sha256).hexdigest()}"


def opened(state: str | None) -> str:
    value, _, mark = (state or "").rpartition(".")
    if not hmac.compare_digest(sealed(value), f"{value}.{mark}"):
        raise MCPError(t.INVALID_PARAMS, "The requestState is not one of ours.")
    return value


def needs(requests: dict[str, Any], state: str | None = None) -> t.InputRequiredResult:
    return t.InputRequiredResult(input_requests=requests, request_state=sealed(state) if state else None)


def accepted(params: Any, key: str) -> Any:
    answer = (params.input_responses or {}).get(key)
    if isinstance(answer, t.ElicitResult):
        return answer if answer.action == "accept" and answer.content else None
    return answer


async def ask_name(ctx: Context, params: t.CallToolRequestParams) -> Any:
    answer = accepted(params, "user_name")
    if answer is None or not all(isinstance(value, str) for value in answer.content.values()):
        return needs({"user_name": question("name")})
    return text(f"Hello, {answer.content.get('name')}!")


async def ask_model(ctx: Context, params: t.CallToolRequestParams) -> Any:
    answer = accepted(params, "capital_question")
    if answer is None:
        return needs({"capital_question": sample()})
    return text(f"The model said: {answer.content.text}")


async def ask_roots(ctx: Context, params: t.CallToolRequestParams) -> Any:
    answer = accepted(params, "client_roots")
    if answer is None:
        return needs({"client_roots": t.ListRootsRequest()})
    return text(f"Roots: {', '.join(str(root.uri) for root in answer.roots)}")


async def with_state(ctx: Context, params: t.CallToolRequestParams) -> Any:
    if params.request_state is None and params.input_responses is None:
        return needs({"confirm": question("name")}, "first")
    opened(params.request_state)
    return text("state-ok")


async def many(ctx: Context, params: t.CallToolRequestParams) -> Any:
    keys = {"user_name": question("name"), "greeting": sample(), "client_roots": t.ListRootsRequest()}
    if not params.input_responses or not keys.keys() <= params.input_responses.keys():
        return needs(keys, "many")
    opened(params.request_state)
    return text("all answered")


async def rounds(ctx: Context, params: t.CallToolRequestParams) -> Any:
    step = opened(params.request_state) if params.request_state else "none"
    if step == "none":
        return needs({"step1": question("name")}, "one")
    if step == "one":
        return needs({"step2": question("color")}, "two")
    return text("done after three rounds")


async def by_capability(ctx: Context, params: t.CallToolRequestParams) -> Any:
    able = ctx.session.client_capabilities or t.ClientCapabilities()
    wanted: dict[str, Any] = {}
    if able.elicitation is not None:
        wanted["name"] = question("name")
    if able.sampling is not None:
        wanted["capital"] = sample()
    if params.input_responses or not wanted:
        return text("done")
    return needs(wanted)


async def missing(ctx: Context, params: t.CallToolRequestParams) -> Any:
    able = ctx.session.client_capabilities
    if able is None or able.sampling is None:
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(t.MISSING_REQUIRED_CLIENT_CAPABILITY, "This needs sampling.", needed)
    return text("it can sample")


async def change_tools(ctx: Context, params: t.CallToolRequestParams) -> Any:
    await ctx.lifespan_context.member(ctx).publish(ToolsListChanged())
    return text("told")


async def change_prompts(ctx: Context, params: t.CallToolRequestParams) -> Any:
    await ctx.lifespan_context.member(ctx).publish(PromptsListChanged())
    await ctx.lifespan_context.member(ctx).publish(ResourcesListChanged())
    return text("told")


async def header(ctx: Context, params: t.CallToolRequestParams) -> Any:
    return text(json.dumps(params.arguments or {}))


SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
PROMPTED = {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]}
TOLD = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
HEADERS = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "priority": {"type": "integer", "x-mcp-header": "Priority"},
        "verbose": {"type": "boolean", "x-mcp-header": "Verbose"},
        "query": {"type": "string"},
    },
}
TOOLS: dict[str, tuple[Fixture, dict[str, Any]]] = {
    "test_simple_text": (simple, NOTHING),
    "test_image_content": (image, NOTHING),
    "test_audio_content": (audio, NOTHING),
    "test_embedded_resource": (resource, NOTHING),
    "test_multiple_content_types": (mixed, NOTHING),
    "test_error_handling": (failing, NOTHING),
    "test_tool_with_logging": (logging, NOTHING),
    "test_logging_tool": (logging, NOTHING),
    "test_tool_with_progress": (progressing, NOTHING),
    "test_reconnection": (reconnecting, NOTHING),
    "test_sampling": (sampling, PROMPTED),
    "test_elicitation": (eliciting, TOLD),
    "test_elicitation_sep1034_defaults": (defaults, NOTHING),
    "test_elicitation_sep1330_enums": (enums, NOTHING),
    "json_schema_2020_12_tool": (simple, SCHEMA_2020),
    "test_input_required_result_elicitation": (ask_name, NOTHING),
    "test_streaming_elicitation": (ask_name, NOTHING),
    "test_input_required_result_sampling": (ask_model, NOTHING),
    "test_input_required_result_list_roots": (ask_roots, NOTHING),
    "test_input_required_result_request_state": (with_state, NOTHING),
    "test_input_required_result_tampered_state": (with_state, NOTHING),
    "test_input_required_result_multiple_inputs": (many, NOTHING),
    "test_input_required_result_multi_round": (rounds, NOTHING),
    "test_input_required_result_capabilities": (by_capability, NOTHING),
    "test_missing_capability": (missing, NOTHING),
    "test_trigger_tool_change": (change_tools, NOTHING),
    "test_trigger_prompt_change": (change_prompts, NOTHING),
    "test_custom_headers": (header, HEADERS),
}
PROMPTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


async def prompt(params: t.GetPromptRequestParams) -> Any:
    given = params.arguments or {}
    words = "This is a simple prompt for testing."
    parts: list[Any] = []
    match params.name:
        case "test_prompt_with_arguments":
            words = f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"
        case "test_prompt_with_embedded_resource":
            parts = [embedded(given.get("resourceUri", "test://example-resource"))]
            words = "Process this resource."
        case "test_prompt_with_image":
            parts, words = [IMAGE], "Please analyze the image above."
        case "test_input_required_result_prompt":
            answer = accepted(params, "user_context")
            if answer is None:
                return needs({"user_context": question("context")})
            words = f"Context: {answer.content.get('context')}"
    messages = [t.PromptMessage(role="user", content=part) for part in (*parts, t.TextContent(text=words))]
    return t.GetPromptResult(description="A test prompt", messages=messages)


def read(uri: str) -> Any:
    if uri == "test://static-binary":
        return t.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    if uri.startswith("test://template/"):
        template_id = uri.removeprefix("test://template/").removesuffix("/data")
        data = {"id": template_id, "templateTest": True, "data": f"Data for ID: {template_id}"}
        return t.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(data))
    if uri in ("test://static-text", "test://watched-resource"):
        return t.TextResourceContents(
            uri=uri, mime_type="text/plain", text="This is the content of the static text resource."
        )
    return None
