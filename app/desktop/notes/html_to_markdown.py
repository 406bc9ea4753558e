"""Convert HTML from the clipboard to Markdown: sanitized by nh3, converted by markdownify. Pure.

Both libraries are imported on first use.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import Tag
    from markdownify import MarkdownConverter

_ALLOWED_TAGS = {
    *("a", "b", "strong", "i", "em", "del", "s", "strike", "mark", "sub", "sup"),
    *("code", "pre", "kbd", "samp"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "div", "span", "section", "article"),
    *("ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tfoot", "tr", "th", "td", "caption"),
    *("img", "figure", "figcaption"),
}
_DROPPED_TAGS = {"script", "style", "head", "title", "noscript", "template", "iframe", "svg", "math"}
_FORMATTING = re.compile(
    r"<(?:a|b|strong|i|em|del|s|strike|code|pre|h[1-6]|ul|ol|li|table|blockquote|img|hr|mark)[\s/>]", re.I
)
_FRAGMENT = re.compile(r"<!--StartFragment-->(.*)<!--EndFragment-->", re.S)
_BOLD_OFF = re.compile(r"<b\b[^>]*font-weight:\s*normal[^>]*>", re.I)
_EXTRA_BLANK_LINES = re.compile(r"\n{3,}")
_TRAILING_SPACES = re.compile(r"[ \t]+$", re.M)


def html_to_markdown(html: str) -> str:
    """Return HTML as Markdown; empty if it has no formatting, so that the plain text is pasted instead.

    Links keep web, mail and relative addresses only; scripts and styles are removed with their content.
    Images keep their address and are not downloaded; those embedded as data are removed.
    """
    clean = sanitize_html(html)
    if not _FORMATTING.search(clean):
        return ""
    text = _converter().convert(clean)
    return _EXTRA_BLANK_LINES.sub("\n\n", _TRAILING_SPACES.sub("", text)).strip("\n")


def sanitize_html(html: str) -> str:
    """Return the copied part of HTML with only the allowed tags, attributes and addresses."""
    import nh3

    fragment = _FRAGMENT.search(html)
    # Google Docs wraps copied content in a <b> tag with a normal font weight.
    source = _BOLD_OFF.sub("<span>", fragment[1] if fragment else html)
    return nh3.clean(
        source,
        tags=_ALLOWED_TAGS,
        clean_content_tags=_DROPPED_TAGS,
        attributes={"a": {"href", "title"}, "img": {"src", "alt", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel=None,
    )


@cache
def _converter() -> MarkdownConverter:
    import markdownify

    class Converter(markdownify.MarkdownConverter):
        """Writes Obsidian's dialect: highlights, cells without bare pipes, addresses without spaces."""

        def convert_mark(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            return f"=={text}==" if text.strip() else text

        # markdownify's type hints omit these methods.
        def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            cell: str = super().convert_td(el, text.replace("|", "\\|"), parent_tags)  # type: ignore[misc]
            return cell

        def convert_th(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            cell: str = super().convert_th(el, text.replace("|", "\\|"), parent_tags)  # type: ignore[misc]
            return cell

        def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            el["href"] = str(el.get("href") or "").replace(" ", "%20")
            link: str = super().convert_a(el, text, parent_tags)  # type: ignore[misc]
            return link

        def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            image: str = super().convert_img(el, text, parent_tags)  # type: ignore[misc]
            return image if el.get("src") else ""

    return Converter(
        heading_style="ATX", bullets="-", strong_em_symbol="*", newline_style="BACKSLASH", escape_misc=False
    )
