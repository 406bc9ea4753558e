"""Targets of embeds: file type and requested size."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import unquote

IMAGE_SUFFIXES = frozenset((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg"))


def is_image(embed: str) -> bool:
    """Return whether an embed is an image; its target may be followed by options, separated by pipes."""
    target, _ = split_target(embed)
    return PurePosixPath(target).suffix.lower() in IMAGE_SUFFIXES


def split_target(embed: str) -> tuple[str, tuple[int, int]]:
    """Return the percent-decoded target of an embed, and the requested width and height (0: natural size)."""
    target, *options = embed.split("|")
    for option in options:
        width, _, height = option.strip().partition("x")
        if width.isdigit() and (not height or height.isdigit()):
            return unquote(target.strip()), (int(width), int(height or 0))
    return unquote(target.strip()), (0, 0)
