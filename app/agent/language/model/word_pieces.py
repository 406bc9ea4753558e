"""Split words into the pieces that the request model knows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence


class WordPieces:
    """Split words into the pieces of a fixed list, longest piece first."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._index = {piece: at for at, piece in enumerate(pieces)}

    def split(self, text: str) -> list[int]:
        """Return the indices of a text's pieces, ignoring accents; characters without a piece are skipped."""
        indices: list[int] = []
        plain = unicodedata.normalize("NFD", text)
        plain = "".join(char for char in plain if not unicodedata.combining(char))
        for word in re.findall(r"\w+|[^\w\s]", plain):
            start = 0
            while start < len(word):
                end = len(word)
                while end > start:
                    piece = word[start:end] if start == 0 else f"##{word[start:end]}"
                    if piece in self._index:
                        indices.append(self._index[piece])
                        break
                    end -= 1
                start = end if end > start else start + 1
        return indices
