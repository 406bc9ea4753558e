"""What went wrong with a server, in our words; its own are kept apart, as they are not to be trusted."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from pydantic import ValidationError

from app.errors import ScriptoriumError
from app.external.sanitize import plain_text

_MAX_MESSAGE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class ErrorExplanation:
    """A failure: `words` are ours, without a full stop; `said` is what the server said of it."""

    words: str
    said: str = ""


def explain_error(error: BaseException) -> ErrorExplanation:
    """A failure of a connection or a call."""
    import httpcore2
    import httpx2
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED

    found = _root_error(error)
    match found:
        case MCPError() if found.error.code == CONNECTION_CLOSED:
            return ErrorExplanation("the connection ended before it answered")
        case MCPError():
            return ErrorExplanation(
                "it answered with an error", plain_text(found.error.message, _MAX_MESSAGE_CHARS)
            )
        case ScriptoriumError():
            return ErrorExplanation(found.message.rstrip("."))
        case ValidationError():
            return ErrorExplanation("it answered with something that is no answer")
        case ssl.SSLError():
            return ErrorExplanation("its certificate is not to be trusted")
        case httpcore2.TimeoutException() | httpx2.TimeoutException() | TimeoutError():
            return ErrorExplanation("it did not answer in time")
        case httpcore2.ConnectError() | httpx2.ConnectError() | ConnectionError():
            return ErrorExplanation("nothing answers there")
        case httpcore2.NetworkError() | httpcore2.ProtocolError() | httpx2.TransportError():
            return ErrorExplanation("the connection broke off")
    return ErrorExplanation(f"it failed ({type(found).__name__})")


def _root_error(error: BaseException) -> BaseException:
    """The first single error in a group; what caused an error of the network, where that says more."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error.__cause__, ssl.SSLError):
        return error.__cause__
    return error
