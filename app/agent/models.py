"""Models with an OpenAI-compatible API: list providers, build and test a model, explain its errors.

pydantic-ai and the OpenAI client take seconds to import, so they are imported on first use.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.errors import InvalidParametersError
from app.settings import ModelSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic_ai.models import Model

# The client imports more modules with its first request, which would block the event loop.
_CLIENT_MODULES = ("openai", "openai.resources.chat.chat", "openai.resources.models")
_MODULES = ("models.openai", "models.test", "providers.openai", "capabilities", "run", "tools", "toolsets")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Provider:
    """A model provider.

    `address` is its default base URL, empty if there is none. `is_local` means that it runs on this computer.
    `hint` tells the user what to do if it fails.
    """

    id: str
    label: str
    address: str
    needs_key: bool
    is_local: bool
    hint: str


PROVIDERS = (
    Provider("openai", "OpenAI", "https://api.openai.com/v1", True, False, "Check the key in the settings."),
    Provider("ollama", "Ollama", "http://127.0.0.1:11434/v1", False, True, "Start it with `ollama serve`."),
    Provider(
        "lm-studio",
        "LM Studio",
        "http://127.0.0.1:1234/v1",
        False,
        True,
        "In LM Studio, start the server on the Developer page.",
    ),
    Provider(
        "llama.cpp",
        "llama.cpp",
        "http://127.0.0.1:8080/v1",
        False,
        True,
        "Start `llama-server --jinja` with your model.",
    ),
    Provider(
        "openai-compatible",
        "OpenAI-compatible address",
        "",
        False,
        False,
        "Check the address in the settings; it usually ends in /v1.",
    ),
)


@dataclass(frozen=True, slots=True)
class ModelProblem:
    """A description of a model error for the user: what happened and what to do."""

    text: str
    hint: str


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The result of a connection test: success, a message, a hint, and the models that the server lists."""

    ok: bool
    text: str
    hint: str = ""
    models: tuple[str, ...] = ()


def get_provider(settings: ModelSettings) -> Provider:
    """Return the provider that the settings name.

    Raises:
        InvalidParametersError: There is no such provider.
    """
    for provider in PROVIDERS:
        if provider.id == settings.provider:
            return provider
    raise InvalidParametersError(f"There is no model provider called {settings.provider!r}.")


def server_address(settings: ModelSettings) -> str:
    """Return the address of the model server.

    Raises:
        InvalidParametersError: The provider is unknown, or the address is missing or not an HTTP address.
    """
    text = (settings.base_url or get_provider(settings).address).strip().rstrip("/")
    if not text:
        raise InvalidParametersError("The model server has no address. Enter it in the settings.")
    try:
        parts = urlsplit(text)
    except ValueError:  # brackets that do not contain an IPv6 address
        parts = None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidParametersError(f"{text!r} is not the address of a model server.", address=text)
    return text


def _create_client(settings: ModelSettings, key: str | None) -> AsyncOpenAI:
    from openai import AsyncOpenAI

    # A local server accepts any key, but the client requires one.
    return AsyncOpenAI(
        base_url=server_address(settings),
        api_key=key or "none",
        timeout=settings.request_timeout,
        max_retries=1,
    )


@asynccontextmanager
async def connect(settings: ModelSettings, key: str | None) -> AsyncIterator[Model]:
    """Build the model that the settings name, and close its connections on exit.

    Raises:
        InvalidParametersError: The provider is unknown, or the model, its key or a valid address is missing.
    """
    provider = get_provider(settings)
    if not settings.model.strip():
        raise InvalidParametersError("No model is selected. Choose one in the settings.")
    if provider.needs_key and not key:
        raise InvalidParametersError(f"{provider.label} needs a key. Add it in the settings.")
    # Importing the model layer and reading the system's certificates takes seconds.
    loading = asyncio.ensure_future(asyncio.to_thread(_load_and_create_client, settings, key))
    try:
        client = await asyncio.shield(loading)
    except asyncio.CancelledError:
        # After a cancellation, the thread is still importing; wait, or later imports fail halfway.
        await asyncio.wait({loading})
        if not loading.cancelled() and loading.exception() is None:
            await loading.result().close()
        raise
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async with client:
        yield OpenAIChatModel(settings.model.strip(), provider=OpenAIProvider(openai_client=client))


def _load_and_create_client(settings: ModelSettings, key: str | None) -> AsyncOpenAI:
    load()
    return _create_client(settings, key)


def _load_client() -> None:
    """Import the model server client. This takes seconds, so run it in a thread."""
    for module in _CLIENT_MODULES:
        import_module(module)


def load() -> None:
    """Import and warm up the model layer. This takes seconds, so run it in a thread."""
    _load_client()
    for module in _MODULES:
        import_module(f"pydantic_ai.{module}")
    from pydantic_ai import Agent, ModelMessagesTypeAdapter

    Agent("test")
    # Builds the serializer of saved conversations.
    ModelMessagesTypeAdapter.dump_json([])


async def check(settings: ModelSettings, key: str | None) -> ModelCheck:
    """Test the connection: list the server's models, and send the selected model a request with a tool.

    If no model is selected, the result only indicates whether the server lists any.
    """
    await asyncio.to_thread(_load_client)
    import openai

    names: tuple[str, ...] = ()
    try:
        # This reads the system's certificates.
        async with await asyncio.to_thread(_create_client, settings, key) as client:
            try:
                names = tuple(sorted([model.id async for model in client.models.list()]))
            except openai.APIStatusError as error:
                # Some compatible servers do not list models; the request below is the actual test.
                if error.status_code in (401, 403):
                    raise
            if not settings.model.strip():
                return ModelCheck(bool(names), "The server responds. Choose a model.", "", names)
            await client.chat.completions.create(
                model=settings.model.strip(),
                messages=[{"role": "user", "content": "Answer with the word: ready"}],
                tools=[
                    {
                        "type": "function",
                        "function": {
                            "name": "vault_info",
                            "description": "Get statistics about the vault.",
                            "parameters": {"type": "object", "properties": {}},
                        },
                    }
                ],
                timeout=min(60.0, settings.request_timeout),
            )
    except InvalidParametersError as error:
        return ModelCheck(False, error.message)
    except openai.OpenAIError as error:
        problem = explain_error(error, settings)
        return ModelCheck(False, problem.text, problem.hint, names)
    return ModelCheck(True, f"{settings.model} responds and accepts tools.", "", names)


async def find_local() -> tuple[tuple[Provider, tuple[str, ...]], ...]:
    """Return the local model servers that respond at their default addresses, each with its models."""
    await asyncio.to_thread(_load_client)
    import openai

    servers = []
    for provider in PROVIDERS:
        if not provider.is_local:
            continue
        settings = ModelSettings(provider=provider.id, request_timeout=5)
        try:
            async with await asyncio.to_thread(_create_client, settings, None) as client:
                listing = await client.with_options(timeout=0.8, max_retries=0).models.list()
                servers.append((provider, tuple(sorted(model.id for model in listing.data))))
        except openai.OpenAIError:
            continue
    return tuple(servers)


def explain_error(error: BaseException, settings: ModelSettings) -> ModelProblem:
    """Explain an error from the model layer: what happened and what to do, without the key or a traceback."""
    address = settings.base_url or get_provider(settings).address
    hint = get_provider(settings).hint
    status = getattr(_status_error(error), "status_code", None)
    server_message = _server_message(error)
    name = settings.model or "the model"
    if status in (401, 403):
        return ModelProblem(f"{address} does not accept the key.", "Enter the key again in the settings.")
    if status == 429:
        wait = getattr(_status_error(error), "retry_after", None)
        text = "The model's server reports that the request or credit limit has been reached."
        return ModelProblem(
            text, f"Try again in {wait:.0f} s." if wait else "Wait a moment, or check your plan."
        )
    if status in (400, 404, 422, 501) and "tool" in server_message.lower():
        return ModelProblem(
            f"{name} can't call tools, so it can't work in your notes.",
            "Choose a model with tool calling, such as qwen3, llama3.1 or gpt-4.1-mini.",
        )
    if status == 404:
        return ModelProblem(f"{address} has no model called {name}.", "Choose another model in the settings.")
    if status is not None and status >= 500:
        return ModelProblem(f"The model's server failed (status {status}): {server_message}", "Try again.")
    if status is not None:
        return ModelProblem(
            f"The model's server refused the request (status {status}): {server_message}", hint
        )
    return _explain_transport(error, address, hint)


def _explain_transport(error: BaseException, address: str, hint: str) -> ModelProblem:
    """Explain an error without an HTTP status: no connection, a timeout, a broken stream, a limit."""
    kinds = {type(cause).__name__ for cause in _error_chain(error)}
    if kinds & {"UsageLimitExceeded"}:
        return ModelProblem(
            "The turn was stopped because it reached its model request limit.",
            "Ask the agent to continue, or raise the limit in the settings under Model.",
        )
    if kinds & {"RemoteProtocolError", "ReadError", "IncompleteToolCall", "JSONDecodeError"}:
        return ModelProblem(
            "The answer is incomplete: the connection to the model was lost.", "Send your message again."
        )
    if kinds & {"ConnectError", "ConnectTimeout"}:
        return ModelProblem(f"No server responds at {address}.", hint)
    if kinds & {"APITimeoutError", "ReadTimeout", "ModelTimeoutError", "RunTimedOut"}:
        return ModelProblem(
            f"{address} did not answer in time.",
            "Try again, or raise the timeout in the settings under Model.",
        )
    if kinds & {"APIConnectionError", "ModelConnectionError"}:
        return ModelProblem(f"No server responds at {address}.", hint)
    return ModelProblem(
        f"The model's answer could not be used: {_server_message(error)}", "Send your message again."
    )


def _error_chain(error: BaseException) -> list[BaseException]:
    """Return the error and its causes."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain:
        chain.append(current)
        current = current.__cause__ or current.__context__
    return chain


def _status_error(error: BaseException) -> BaseException | None:
    """Return the first error in the chain that has an HTTP status, or None."""
    return next(
        (cause for cause in _error_chain(error) if isinstance(getattr(cause, "status_code", None), int)), None
    )


def _server_message(error: BaseException) -> str:
    """Return the server's message, or else the error's own, as one line of at most 300 characters."""
    source = _status_error(error) or error
    body = getattr(source, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message", inner) if isinstance(inner, dict) else inner
    text = " ".join(str(body or getattr(source, "message", "") or source).split())
    return text if len(text) <= 300 else text[:299] + "…"
