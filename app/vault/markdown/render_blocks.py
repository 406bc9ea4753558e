"""Rules for block HTML: headings, paragraphs, code, quotes, callouts, lists, tables, footnotes, formulas."""

from __future__ import annotations

from html import escape

from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from app.vault.markdown.headings import heading_key
from app.vault.markdown.render_images import image_html
from app.vault.markdown.render_math import math_html
from app.vault.markdown.render_page import (
    BOX_CLOSE,
    MONOSPACE,
    RenderContext,
    Rule,
    anchor_html,
    box_open,
    drawing_html,
    quote_address,
    style_html,
)
from app.vault.markdown.render_raw import clean_block

LINE = "line-height:145%;"
# A line with a picture has the picture's height; a percentage of it would leave a gap below.
_LINE_WITH_PICTURE = "line-height:8px;-qt-line-height-type:line-distance;"
_LIST_SHIFT = -14  # Qt indents each list by 40 pixels
_MAX_HIGHLIGHTED_CHARS = 60_000
_BOXES = {" ": "☐", "x": "☑", "X": "☑", "-": "☒"}
_DONE = "xX-"
_HEADINGS = {
    "h1": ("xx-large", 8, 12),
    "h2": ("x-large", 22, 10),
    "h3": ("large", 18, 8),
    "h4": ("medium", 14, 6),
    "h5": ("medium", 12, 6),
    "h6": ("small", 12, 6),
}
_ICONS = {
    "note": "✎",
    "info": "ℹ",
    "todo": "☐",
    "abstract": "≡",
    "tip": "✦",
    "success": "✓",
    "question": "?",
    "warning": "⚠",
    "failure": "✗",
    "danger": "⚠",
    "bug": "✱",
    "example": "❖",
    "quote": "❝",
}


def _heading_open(page: RenderContext, token: Token) -> str:
    size, margin_top, margin_bottom = _HEADINGS[token.tag]
    color = f"color:{page.colors.muted};" if token.tag in ("h5", "h6") else ""
    style = (
        f"font-size:{size};font-weight:600;margin-top:{margin_top}px;margin-bottom:{margin_bottom}px;{color}"
    )
    return f'<{token.tag} style="{style}">{_heading_anchors(page, int(token.tag[1]), token.meta["text"])}'


def _heading_anchors(page: RenderContext, level: int, text: str) -> str:
    """Return the anchors of a heading: its text, its key, and its paths of keys below each ancestor."""
    key = heading_key(text)
    page.headings = [heading for heading in page.headings if heading[0] < level]
    names, path = [text, key], key
    for _, anchor in reversed(page.headings):
        path = f"{anchor}#{path}"
        names += [path, f"{anchor}#{key}"]
    page.headings.append((level, key))
    return "".join(anchor_html(name) for name in dict.fromkeys(names) if name)


def _paragraph_open(page: RenderContext, token: Token) -> str:
    if token.hidden or token.meta.get("bare"):
        return ""
    return f'<p style="{_line(token)}margin-top:0;margin-bottom:10px;">'


def _line(token: Token) -> str:
    return _LINE_WITH_PICTURE if token.meta.get("pictures") else LINE


def _paragraph_close(page: RenderContext, token: Token) -> str:
    return "" if token.hidden or token.meta.get("bare") else "</p>\n"


def _fence(page: RenderContext, token: Token) -> str:
    words = token.info.split()
    language = words[0].strip("{}.") if words else ""
    if language.casefold() == "mermaid" and (diagram := _diagram(page, token.content)):
        return diagram
    return _code(page, token.content, language)


def _diagram(page: RenderContext, source: str) -> str:
    image = drawing_html(page, "mermaid", source)
    return f'<p align="center" style="margin-top:6px;margin-bottom:12px;">{image}</p>\n' if image else ""


def _code_block(page: RenderContext, token: Token) -> str:
    return _code(page, token.content, "")


def _code(page: RenderContext, code: str, language: str) -> str:
    colors = page.colors
    code_html = _highlight(code.rstrip("\n"), language, is_dark=colors.is_dark) or "&nbsp;"
    style = f"font-family:{MONOSPACE};white-space:pre-wrap;margin:0;"
    label = ""
    if language:
        faint = f"margin:0;color:{colors.muted};font-size:small;"
        label = f'<p align="right" style="{faint}">{escape(language)}</p>'
    return f'{box_open(background=colors.code_bg)}{label}<pre style="{style}">{code_html}</pre>{BOX_CLOSE}'


def _highlight(code: str, language: str, *, is_dark: bool) -> str:
    """Return code as HTML for a `<pre>`, highlighted if its language is known and it is not too long."""
    # Inline styles, because the page has no style sheet for Pygments' classes.
    if not language or len(code) > _MAX_HIGHLIGHTED_CHARS:
        return escape(code, quote=False)
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(code, quote=False)
    style = "github-dark" if is_dark else "xcode"
    return highlight(code, lexer, HtmlFormatter(nowrap=True, noclasses=True, style=style)).rstrip("\n")


def _quote_open(page: RenderContext, token: Token) -> str:
    return box_open(bar=page.colors.quote_border, padding="4px 14px", color=page.colors.muted)


def _callout_open(page: RenderContext, token: Token) -> str:
    kind = token.meta["kind"]
    color = page.colors.callout_color(kind)
    words = page.write(page, [token.meta["title"]])
    icon = _ICONS.get(kind, _ICONS["note"])
    style = f"margin-top:0;margin-bottom:6px;color:{color};font-weight:600;"
    box = box_open(background=page.colors.tint(color), bar=color, padding="10px 14px")
    mark = ""
    if token.meta["fold"] and page.interaction is not None:
        sign = "▸" if token.meta["folded"] else "▾"
        link = f'style="color:{color};text-decoration:none;"'
        mark = f'&nbsp; <a href="fold:{quote_address(token.meta["name"])}" {link}>{sign}</a>'
    return f'{box}<p style="{style}">{icon}&nbsp; {words}{mark}</p>'


def _box_close(page: RenderContext, token: Token) -> str:
    return BOX_CLOSE


def _hr(page: RenderContext, token: Token) -> str:
    return f'<hr width="100%" style="background-color:{page.colors.border};">\n'


def _html_block(page: RenderContext, token: Token) -> str:
    return style_html(page, clean_block(token.content, lambda *image: image_html(page, *image)))


def _math_block(page: RenderContext, token: Token) -> str:
    style = "margin-top:6px;margin-bottom:12px;font-size:large;font-family:serif;"
    formula = drawing_html(page, "math", token.content.strip()) or f"<i>{math_html(token.content)}</i>"
    return f'<p align="center" style="{style}">{formula}</p>\n'


def _list_open(page: RenderContext, token: Token) -> str:
    start = token.attrGet("start")
    number = f' start="{int(start)}"' if start is not None else ""
    margin_bottom = 0 if token.meta.get("inner") else 10
    style = f"margin-top:0;margin-bottom:{margin_bottom}px;margin-left:{_LIST_SHIFT}px;"
    return f'<{token.tag}{number} style="{style}">'


def _item_open(page: RenderContext, token: Token) -> str:
    box = token.meta.get("box")
    style = f"{_line(token)}margin-top:1px;margin-bottom:{10 if token.meta.get('loose') else 2}px;"
    if box is None:
        return f'<li style="{style}">'
    page.in_done_task = box in _DONE
    sign = _BOXES.get(box) or f'<span style="font-family:{MONOSPACE};">[{escape(box)}]</span>'
    if page.interaction is not None and not page.scope:
        task = token.meta["task"]
        link = f'style="color:{page.colors.muted};text-decoration:none;"'
        sign = f'<a href="task:{page.tasks[task]}#{quote_address(task)}" {link}>{sign}</a>'
        page.tasks[task] += 1
    return f'<li style="{style}list-style-type:none;">{sign}&nbsp; '


def _table_open(page: RenderContext, token: Token) -> str:
    border = page.colors.border
    style = f"border-collapse:collapse;border-style:solid;border-color:{border};margin:6px 0 14px 0;"
    return f'<table border="1" cellspacing="0" cellpadding="6" style="{style}">'


def _cell_open(page: RenderContext, token: Token) -> str:
    alignment = str(token.attrGet("style") or "").partition("text-align:")[2].strip(" ;")
    align = f' align="{alignment}"' if alignment in ("left", "right", "center") else ' align="left"'
    fill = f' bgcolor="{page.colors.code_bg}"' if token.tag == "th" else ""
    return f"<{token.tag}{fill}{align}>"


def _footnotes_open(page: RenderContext, token: Token) -> str:
    return f'{_hr(page, token)}<table cellspacing="0" cellpadding="2" style="font-size:small;">'


def _footnote_open(page: RenderContext, token: Token) -> str:
    number, muted = token.meta["id"] + 1, page.colors.muted
    style = f"color:{muted};text-decoration:none;"
    back_link = f'{anchor_html(f"fn{number}")}<a href="#fnref{number}" style="{style}">{number}.</a>'
    return f'<tr><td style="padding-right:8px;">{back_link}</td><td style="color:{muted};">'


BLOCKS: dict[str, Rule] = {
    "heading_open": _heading_open,
    "paragraph_open": _paragraph_open,
    "paragraph_close": _paragraph_close,
    "fence": _fence,
    "code_block": _code_block,
    "blockquote_open": _quote_open,
    "blockquote_close": _box_close,
    "callout_open": _callout_open,
    "callout_close": _box_close,
    "hr": _hr,
    "html_block": _html_block,
    "math_block": _math_block,
    "bullet_list_open": _list_open,
    "ordered_list_open": _list_open,
    "list_item_open": _item_open,
    "table_open": _table_open,
    "th_open": _cell_open,
    "td_open": _cell_open,
    "footnote_block_open": _footnotes_open,
    "footnote_block_close": lambda page, token: "</table>\n",
    "footnote_open": _footnote_open,
    "footnote_close": lambda page, token: "</td></tr>",
    "footnote_anchor": lambda page, token: "",
}
