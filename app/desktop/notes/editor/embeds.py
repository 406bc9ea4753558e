"""Targets of embeds: what is a picture, and how large it is to be."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import unquote

IMAGE_SUFFIXES = frozenset((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg"))


def is_image(word: str) -> bool:
    """Whether an embed's target, with what stands behind bars, is a picture."""
    target, _ = split_target(word)
    return PurePosixPath(target).suffix.lower() in IMAGE_SUFFIXES


def split_target(word: str) -> tuple[str, tuple[int, int]]:
    """The target of an embed, and the width and height that it asks for (0: as they are)."""
    target, *rest = word.split("|")
    for one in rest:
        width, _, height = one.strip().partition("x")
        if width.isdigit() and (not height or height.isdigit()):
            return unquote(target.strip()), (int(width), int(height or 0))
    return unquote(target.strip()), (0, 0)
