"""The inputs for rendering: colors, link targets, interaction and drawn images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, Protocol

_CALLOUT_ROLES = {
    "note": "link",
    "info": "link",
    "todo": "link",
    "abstract": "tag",
    "tip": "tag",
    "success": "success",
    "question": "warning",
    "warning": "warning",
    "failure": "danger",
    "danger": "danger",
    "bug": "danger",
    "example": "unresolved",
    "quote": "muted",
}


class ThemePalette(Protocol):
    """The theme colors used in rendered notes, each as "#rrggbb"."""

    @property
    def is_dark(self) -> bool:
        """True if the theme has light text on a dark background."""

    @property
    def panel(self) -> str:
        """The background."""

    @property
    def border(self) -> str:
        """Table borders."""

    @property
    def text(self) -> str:
        """Body text."""

    @property
    def muted(self) -> str:
        """Quotes, labels and completed tasks."""

    @property
    def link(self) -> str:
        """Links to existing notes."""

    @property
    def unresolved(self) -> str:
        """Unresolved links."""

    @property
    def tag(self) -> str:
        """Tags."""

    @property
    def code_bg(self) -> str:
        """The background of code."""

    @property
    def mark_bg(self) -> str:
        """The background of highlights."""

    @property
    def danger(self) -> str:
        """Callouts for danger."""

    @property
    def warning(self) -> str:
        """Callouts for warnings."""

    @property
    def success(self) -> str:
        """Callouts for success."""


@dataclass(frozen=True, slots=True)
class RenderColors:
    """The colors of rendered Markdown, each as "#rrggbb"; `callouts` by kind ("note", "warning", …)."""

    text: str = "#1e2024"
    muted: str = "#565a63"
    link: str = "#3d49bd"
    unresolved: str = "#8b5f8f"
    tag: str = "#1f6f78"
    background: str = "#ffffff"
    code_bg: str = "#f0f0ed"
    border: str = "#dfdfdb"
    quote_border: str = "#c9c9c4"
    mark_bg: str = "#fdeeb0"
    callouts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    is_dark: bool = False

    @classmethod
    def of(cls, theme: ThemePalette) -> RenderColors:
        """Return the colors for a desktop theme."""
        callouts = {kind: str(getattr(theme, role)) for kind, role in _CALLOUT_ROLES.items()}
        return cls(
            text=theme.text,
            muted=theme.muted,
            link=theme.link,
            unresolved=theme.unresolved,
            tag=theme.tag,
            background=theme.panel,
            code_bg=theme.code_bg,
            border=theme.border,
            quote_border=mix_colors(theme.panel, theme.muted, 0.35),
            mark_bg=theme.mark_bg,
            callouts=MappingProxyType(callouts),
            is_dark=theme.is_dark,
        )

    def callout_color(self, kind: str) -> str:
        """Return the color of a kind of callout; an unknown kind has that of “note”."""
        return self.callouts.get(kind, self.callouts.get("note", self.link))

    def tint(self, color: str, strength: float = 0.09) -> str:
        """Mix a color into the background with a `strength` of 0 to 0.7; dark themes get more of it."""
        return mix_colors(self.background, color, strength * (1.4 if self.is_dark else 1))


@dataclass(frozen=True, slots=True)
class NoteTarget:
    """The target of a link: its path in the vault and, for a note, the text to embed.

    `text` may be a function, called only when the note is embedded. None means that nothing can be embedded.
    """

    path: str
    text: str | Callable[[], str | None] | None = None

    def body(self) -> str | None:
        """Return the text to embed, or None if there is none."""
        return self.text() if callable(self.text) else self.text


@dataclass(frozen=True, slots=True)
class Interaction:
    """The interactive state of a page, whose tasks can be checked and callouts folded.

    `toggled` has the names of the callouts whose folding differs from the note.
    """

    toggled: frozenset[str] = frozenset()


Resolve = Callable[[str], NoteTarget | None]
"""Returns the target of a link, or None if it is unresolved."""


def mix_colors(first: str, second: str, share: float) -> str:
    """Return `first` mixed with a `share` (0 to 1) of `second`, both "#rrggbb"."""
    a, b = (bytes.fromhex(color[1:7]) for color in (first, second))
    return "#" + "".join(f"{round(x + (y - x) * share):02x}" for x, y in zip(a, b, strict=True))


class DrawnImage(NamedTuple):
    """A formula or diagram drawn as an image: its URL and its size in pixels."""

    address: str
    width: int
    height: int


Draw = Callable[[str, str], DrawnImage | None]
"""Draws "math", "inline-math" or "mermaid" from its source; returns None if it can't."""
