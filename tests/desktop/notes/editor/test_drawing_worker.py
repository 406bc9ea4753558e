"""Drawings have the size of the text around them."""

from __future__ import annotations

import pytest

from app.desktop.notes.editor.drawing_worker import draw
from app.desktop.notes.editor.drawings import DrawingRequest


@pytest.mark.parametrize(
    ("kind", "source"), [("mermaid", "flowchart LR\n  Leaf --> Tea"), ("math", "x^2 + y")]
)
def test_diagrams_and_formulas_grow_with_the_text(qapp, kind: str, source: str) -> None:
    small, large = (draw(DrawingRequest(kind, source, 0, points), lambda _: None) for points in (12, 24))
    assert small.image is not None and large.image is not None
    assert large.width == pytest.approx(2 * small.width, rel=0.06)
    assert large.image.width() == pytest.approx(2 * small.image.width(), rel=0.06)
