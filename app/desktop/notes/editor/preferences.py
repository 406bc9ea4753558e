"""The user's preferences for the appearance and behavior of the editor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EditorPreferences:
    """The user's preferences.

    Attributes:
        family: The font of the text; empty for the interface's font.
        points: The size of the text in points; 0 for the default size.
        code_family: The font of code and source; empty for the system's fixed-pitch font.
        code_points: The size of code in points; 0 for a size that fits the text.
        line_width: The width of the text column in pixels at 100%; 0 for the full width.
        auto_pairs: Whether to close brackets, quotes and backticks as they are typed, and to surround
            selections.
    """

    family: str = ""
    points: float = 0.0
    code_family: str = ""
    code_points: float = 0.0
    line_width: int = 760
    auto_pairs: bool = True
