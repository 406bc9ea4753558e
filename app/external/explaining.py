"""What went wrong with a server, in our words; its own are kept apart, as they are not to be trusted."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from pydantic import ValidationError

from app.errors import ScriptoriumError
from app.external.foreign_text import plain

_SAID = 2_000


@dataclass(frozen=True, slots=True)
class Explained:
    """A failure: `words` are ours, without a full stop; `said` is what the server said of it."""

    words: str
    said: str = ""


def explained(error: BaseException) -> Explained:
    """A failure of a connection or a call."""
    import httpcore2
    import httpx2
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED

    found = _first(error)
    match found:
        case MCPError() if found.error.code == CONNECTION_CLOSED:
            return Explained("the connection ended before it answered")
        case MCPError():
            return Explained("it answered with an error", plain(found.error.message, _SAID))
        case ScriptoriumError():
            return Explained(found.message.rstrip("."))
        case ValidationError():
            return Explained("it answered with something that is no answer")
        case ssl.SSLError():
            return Explained("its certificate is not to be trusted")
        case httpcore2.TimeoutException() | httpx2.TimeoutException() | TimeoutError():
            return Explained("it did not answer in time")
        case httpcore2.ConnectError() | httpx2.ConnectError() | ConnectionError():
            return Explained("nothing answers there")
        case httpcore2.NetworkError() | httpcore2.ProtocolError() | httpx2.TransportError():
            return Explained("the connection broke off")
    return Explained(f"it failed ({type(found).__name__})")


def _first(error: BaseException) -> BaseException:
    """The first single error in a group; what caused an error of the network, where that says more."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error.__cause__, ssl.SSLError):
        return error.__cause__
    return error
