"""Formulas and diagrams in rendered notes are drawn if possible, else shown as text."""

from __future__ import annotations

from app.vault.markdown.render import render
from app.vault.markdown.render_values import DrawnImage

TEXT = '$x^2$ and $$y"<$$\n\n$$\n\\int z\n$$\n\n```mermaid\nA --> B\n```\n\n```python\nx = 1\n```\n'


def test_each_kind_is_drawn_from_its_source() -> None:
    asked: list[tuple[str, str]] = []

    def draw(kind: str, source: str) -> DrawnImage:
        asked.append((kind, source))
        return DrawnImage(f"drawing:{len(asked)}", 20, 10)

    html = render(TEXT, lambda name: None, draw=draw)
    assert asked == [
        ("inline-math", "x^2"),
        ("inline-math", 'y"<'),
        ("math", "\\int z"),
        ("mermaid", "A --> B\n"),
    ]
    assert html.count("<img ") == 4 and 'src="drawing:3" width="20" height="10"' in html
    assert 'alt="y&quot;&lt;"' in html and "python" in html


def test_what_cannot_be_drawn_is_shown_as_text() -> None:
    html = render(TEXT, lambda name: None, draw=lambda kind, source: None)
    assert "<img" not in html and "A --&gt; B" in html and html == render(TEXT, lambda name: None)
