"""The context of a rendering, and HTML fragments that several rules share.

Qt's rich text has no boxes except table cells, so code, quotes, callouts and embeds are one-row tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

from markdown_it.token import Token

from app.vault.markdown.headings import heading_key
from app.vault.markdown.render_values import Draw, Interaction, NoteTarget, RenderColors, Resolve
from app.vault.note import Link

MONOSPACE = "'JetBrains Mono','Cascadia Mono','SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace"
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg", ".avif", ".ico")


@dataclass(slots=True)
class RenderContext:
    """The state of one rendering: the note, link resolver, colors, callbacks, open tags and counters.

    `scope` names the embed that is rendered; it is empty for the note itself. `in_done_task` is true from the
    start of a done task until its text, and `link_decoration` is the `text-decoration` of links and tags.
    """

    note: NoteTarget
    resolve: Resolve
    colors: RenderColors
    embed: Callable[[Link, NoteTarget], str | None]
    write: Callable[[RenderContext, Sequence[Token]], str]
    draw: Draw = lambda kind, source: None
    opened_tags: list[str] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    interaction: Interaction | None = None
    tasks: Counter[str] = field(default_factory=Counter)
    callouts: int = 0
    scope: str = ""
    in_done_task: bool = False
    link_decoration: str = "none"


Rule = Callable[[RenderContext, Token], str]


def box_open(*, background: str = "", bar: str = "", padding: str = "10px 14px", color: str = "") -> str:
    """Return the start tags of a box, optionally with a bar on its left."""
    bar_cell = f'<td width="3" bgcolor="{bar}"></td>' if bar else ""
    fill = f' bgcolor="{background}"' if background else ""
    ink = f"color:{color};" if color else ""
    table = '<table width="100%" cellspacing="0" cellpadding="0" style="margin-top:6px;margin-bottom:12px;">'
    return f'{table}<tr>{bar_cell}<td{fill} style="padding:{padding};{ink}">'


BOX_CLOSE = "</td></tr></table>\n"


def drawing_html(page: RenderContext, kind: str, source: str) -> str:
    """Return a formula or diagram as an image with its source as alt text, or "" if it can't be drawn."""
    image = page.draw(kind, source)
    if image is None:
        return ""
    size = f'width="{image.width}" height="{image.height}"'
    style = ' style="vertical-align:middle;"' if kind == "inline-math" else ""
    return f'<img src="{quote_attribute(image.address)}" {size} alt="{quote_attribute(source)}"{style}>'


def anchor_html(name: str) -> str:
    """Return the HTML of an anchor."""
    return f'<a name="{quote_attribute(name)}"></a>'


def style_html(page: RenderContext, html: str) -> str:
    """Return sanitized HTML with the page's colors for links and highlights."""
    html = html.replace("<a href=", f'<a style="color:{page.colors.link};" href=')
    return html.replace("<mark>", f'<mark style="background-color:{page.colors.mark_bg};">')


def quote_address(text: str) -> str:
    """Quote text for the path or fragment of a URL."""
    return quote(text, safe="/")


def quote_attribute(text: str) -> str:
    """Escape text for the value of an attribute."""
    return escape(text, quote=True)


def fragment_of(heading: str) -> str:
    """Return the name of the anchor for a heading or a path of headings."""
    if heading.startswith("^"):
        return heading
    return "#".join(key for part in heading.split("#") if (key := heading_key(part)))
