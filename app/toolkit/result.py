"""What a tool gives back: typed fields and one plain sentence."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ToolResult(BaseModel):
    """The result of a tool; each tool has its own subclass with typed fields.

    `message` is one plain sentence for people ("Created Ideas/Tea."). On the wire it stands beside
    `success` and the fields.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    message: str = ""
