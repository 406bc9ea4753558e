"""Explain a server's failures in our own words; its own message is untrusted and kept separate."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from pydantic import ValidationError

from app.errors import ScriptoriumError
from app.external.sanitize import sanitize_text

_MAX_MESSAGE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class ErrorExplanation:
    """A failure: `reason` is our text, without a period; `server_message` is the server's, sanitized."""

    reason: str
    server_message: str = ""


def explain_error(error: BaseException) -> ErrorExplanation:
    """Explain a failed connection or call."""
    import httpcore2
    import httpx2
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED

    root_error = _root_error(error)
    match root_error:
        case MCPError() if root_error.error.code == CONNECTION_CLOSED:
            return ErrorExplanation("the connection closed before it answered")
        case MCPError():
            return ErrorExplanation(
                "it answered with an error", sanitize_text(root_error.error.message, _MAX_MESSAGE_CHARS)
            )
        case ScriptoriumError():
            return ErrorExplanation(root_error.message.rstrip("."))
        case ValidationError():
            return ErrorExplanation("it sent an invalid response")
        case ssl.SSLError():
            return ErrorExplanation("its certificate is not trusted")
        case httpcore2.TimeoutException() | httpx2.TimeoutException() | TimeoutError():
            return ErrorExplanation("it did not answer in time")
        case httpcore2.ConnectError() | httpx2.ConnectError() | ConnectionError():
            return ErrorExplanation("nothing is responding at the address")
        case httpcore2.NetworkError() | httpcore2.ProtocolError() | httpx2.TransportError():
            return ErrorExplanation("the connection was lost")
    return ErrorExplanation(f"it failed ({type(root_error).__name__})")


def _root_error(error: BaseException) -> BaseException:
    """Return the first error in a group, however nested, or that error's TLS cause."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error.__cause__, ssl.SSLError):
        return error.__cause__
    return error
