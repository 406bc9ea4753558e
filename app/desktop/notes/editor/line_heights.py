"""Line heights in chunks with sums, so that a query or change visits the lines of only a few chunks."""

from __future__ import annotations

_CHUNK_SIZE = 256


class LineHeights:
    """A list of heights that finds the top of a line and the line at an offset."""

    def __init__(self, values: list[float]) -> None:
        self._chunks = [values[i : i + _CHUNK_SIZE] for i in range(0, len(values), _CHUNK_SIZE)] or [[]]
        self._sums = [sum(chunk) for chunk in self._chunks]
        self.total = sum(self._sums)

    def __len__(self) -> int:
        return sum(map(len, self._chunks))

    def __getitem__(self, index: int) -> float:
        chunk_index, offset = self._locate(index)
        return self._chunks[chunk_index][offset]

    def set(self, index: int, value: float) -> None:
        """Set the height of one line."""
        chunk_index, offset = self._locate(index)
        change = value - self._chunks[chunk_index][offset]
        if change:
            self._chunks[chunk_index][offset] = value
            self._sums[chunk_index] += change
            self.total += change

    def splice(self, index: int, removed: int, heights: list[float]) -> None:
        """Replace `removed` heights from `index` on with `heights`."""
        while removed > 0:
            chunk_index, offset = self._locate(index)
            deleted = self._chunks[chunk_index][offset : offset + removed]
            if not deleted:
                break
            del self._chunks[chunk_index][offset : offset + removed]
            self._sums[chunk_index] = sum(self._chunks[chunk_index])
            removed -= len(deleted)
            if not self._chunks[chunk_index] and len(self._chunks) > 1:
                del self._chunks[chunk_index], self._sums[chunk_index]
        if heights:
            chunk_index, offset = self._locate(index)
            chunk = self._chunks[chunk_index]
            chunk[offset:offset] = heights
            parts = [chunk]
            if len(chunk) > 2 * _CHUNK_SIZE:
                parts = [chunk[start : start + _CHUNK_SIZE] for start in range(0, len(chunk), _CHUNK_SIZE)]
            self._chunks[chunk_index : chunk_index + 1] = parts
            self._sums[chunk_index : chunk_index + 1] = [sum(part) for part in parts]
        self.total = sum(self._sums)

    def top(self, index: int) -> float:
        """Return the sum of all heights before `index`."""
        y = 0.0
        for chunk, height in zip(self._chunks, self._sums, strict=True):
            if index < len(chunk):
                return y + sum(chunk[:index])
            index -= len(chunk)
            y += height
        return y

    def line_at(self, y: float) -> tuple[int, float]:
        """Return the index and top of the line at `y`; the last line for an offset below the end."""
        index, top = 0, 0.0
        for chunk_index, chunk in enumerate(self._chunks):
            is_last = chunk_index == len(self._chunks) - 1
            if y < top + self._sums[chunk_index] or is_last:
                for offset, height in enumerate(chunk):
                    if y < top + height or (is_last and offset == len(chunk) - 1):
                        return index + offset, top
                    top += height
            else:
                top += self._sums[chunk_index]
            index += len(chunk)
        return max(0, index - 1), top

    def _locate(self, index: int) -> tuple[int, int]:
        for chunk_index, chunk in enumerate(self._chunks):
            if index < len(chunk):
                return chunk_index, index
            index -= len(chunk)
        return len(self._chunks) - 1, len(self._chunks[-1])
