"""Sanitization of the HTML in notes, which keeps only harmless tags that Qt can display.

nh3 (ammonia) sanitizes the HTML. It parses the way browsers do, so unusual syntax can't slip through.
Scripts, style sheets and anything that loads a resource are removed; the caller provides the HTML of images.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import nh3

INLINE_TAGS = frozenset(
    [
        "a",
        "abbr",
        "b",
        "br",
        "cite",
        "code",
        "del",
        "em",
        "font",
        "i",
        "ins",
        "kbd",
        "mark",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "u",
        "var",
    ]
)
_BLOCK_TAGS = INLINE_TAGS | frozenset(
    [
        "blockquote",
        "center",
        "dd",
        "div",
        "dl",
        "dt",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
_ATTRIBUTES = {
    "a": {"href"},
    "font": {"color"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan"},
    "div": {"align"},
    "p": {"align"},
    "ol": {"start"},
}
_IMAGE = re.compile(r"<img\b[^>]{0,4000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"\b(src|alt|width|height)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE
)
_PLACEHOLDER = re.compile("\ue000(\\d{1,9})\ue001")
# nh3 writes every attribute's value in double quotes and escapes `<` in text.
_TAG_OR_PLACEHOLDER = re.compile(rf'<[^"<>]*+(?:"[^"]*+"[^"<>]*+)*+>|{_PLACEHOLDER.pattern}')
_TAG_NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)")
_VOID = frozenset(["br"])

ImageRenderer = Callable[[str, str, str, str], str]


def clean_block(html: str, render_image: ImageRenderer) -> str:
    """Sanitize a block of HTML.

    Args:
        html: The HTML in the note.
        render_image: Returns the HTML for an image's source, text, width and height.
    """
    images: list[str] = []

    def insert_placeholder(match: re.Match[str]) -> str:
        images.append(_image_html(match[0], render_image))
        return f"\ue000{len(images) - 1}\ue001"

    def insert_image(match: re.Match[str]) -> str:
        # An image in an attribute's value would end the value early, and entities can spell any number.
        if match[1]:
            return images[int(match[1])] if int(match[1]) < len(images) else ""
        return _PLACEHOLDER.sub("", match[0])

    cleaned = _clean(
        _IMAGE.sub(insert_placeholder, html.replace("\ue000", "").replace("\ue001", "")), _BLOCK_TAGS
    )
    return _TAG_OR_PLACEHOLDER.sub(insert_image, cleaned)


def clean_tag(html: str, opened: list[str], render_image: ImageRenderer) -> str:
    """Sanitize one inline tag; an image's tag is rendered, and any other may change `opened`.

    Args:
        html: The tag.
        opened: The names of the open tags; updated in place.
        render_image: Returns the HTML for an image's source, text, width and height.
    """
    name_match = _TAG_NAME.match(html)
    name = name_match[1].lower() if name_match else ""
    if name == "img":
        return _image_html(html, render_image)
    if name not in INLINE_TAGS:
        return ""
    if html.startswith("</"):
        if name not in opened:
            return ""
        index = len(opened) - 1 - opened[::-1].index(name)
        closed = [opened.pop() for _ in range(len(opened) - index)]
        return "".join(f"</{closed_name}>" for closed_name in closed)
    cleaned = _clean(html, INLINE_TAGS).removesuffix(f"</{name}>")
    if cleaned and name not in _VOID:
        opened.append(name)
    return cleaned


def _clean(html: str, tags: frozenset[str]) -> str:
    return nh3.clean(
        html,
        tags=set(tags),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items() if tag in tags},
        url_schemes={"http", "https", "mailto"},
        link_rel=None,
        strip_comments=True,
    )


def _image_html(tag: str, render_image: ImageRenderer) -> str:
    attributes = {m[1].lower(): unescape(m[2] or m[3] or m[4] or "") for m in _ATTRIBUTE.finditer(tag)}
    return render_image(
        attributes.get("src", ""),
        attributes.get("alt", ""),
        attributes.get("width", ""),
        attributes.get("height", ""),
    )
