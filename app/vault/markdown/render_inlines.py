"""Rules for inline HTML: links, embeds, tags, code, highlights, fields, formulas and footnote marks."""

from __future__ import annotations

from html import escape
from urllib.parse import unquote

from markdown_it.token import Token

from app.vault.markdown.links import SCHEME
from app.vault.markdown.render_images import image_html, split_size, vault_image
from app.vault.markdown.render_math import math_html
from app.vault.markdown.render_page import (
    BOX_CLOSE,
    IMAGE_SUFFIXES,
    MONOSPACE,
    RenderContext,
    Rule,
    anchor_html,
    box_open,
    drawing_html,
    fragment_of,
    quote_address,
    quote_attribute,
    style_html,
)
from app.vault.markdown.render_raw import clean_tag
from app.vault.note import Link
from app.vault.reference import LINK_SEPARATOR

_WEB = ("http://", "https://", "mailto:")


def _text(page: RenderContext, token: Token) -> str:
    return escape(token.content, quote=False)


def _code(page: RenderContext, token: Token) -> str:
    style = f"font-family:{MONOSPACE};background-color:{page.colors.code_bg};"
    return f'<code style="{style}">{escape(token.content, quote=False)}</code>'


def _math(page: RenderContext, token: Token) -> str:
    as_text = f'<i style="font-family:serif;">{math_html(token.content)}</i>'
    return drawing_html(page, "inline-math", token.content) or as_text


def _html(page: RenderContext, token: Token) -> str:
    return style_html(
        page, clean_tag(token.content, page.opened_tags, lambda *image: image_html(page, *image))
    )


def _mark_open(page: RenderContext, token: Token) -> str:
    return f'<span style="background-color:{page.colors.mark_bg};">'


def _field_key(page: RenderContext, token: Token) -> str:
    words = escape(token.content.replace("_", " "), quote=False)
    return f'<span style="color:{page.colors.muted};">{words}:</span> '


def _anchor(page: RenderContext, token: Token) -> str:
    return anchor_html(token.content)


def _tag(page: RenderContext, token: Token) -> str:
    color = page.colors.tag
    background = page.colors.tint(color, 0.12)
    style = f"color:{color};text-decoration:{page.link_decoration};background-color:{background};"
    return f'<a href="tag:{quote_address(token.content)}" style="{style}">#{escape(token.content)}</a>'


def _wiki_link(page: RenderContext, token: Token) -> str:
    link: Link = token.meta["link"]
    return _note_link(page, link, link.alias or _link_text(link))


def _embed(page: RenderContext, token: Token) -> str:
    """Return an embedded image or note; a note becomes a link within a line or if it can't be embedded."""
    link: Link = token.meta["link"]
    target = page.resolve(link.target) if link.target else page.note
    if target and target.path.lower().endswith(IMAGE_SUFFIXES):
        return _block_embed(token, vault_image(target.path, *split_size(f"|{link.alias or ''}")[1:]))
    html = page.embed(link, target) if target and token.meta.get("alone") else None
    if html is None:
        return _block_embed(token, _note_link(page, link, link.alias or _link_text(link)))
    title = _note_link(page, link, _link_text(link).rpartition("/")[2])
    opened = box_open(bar=page.colors.tint(page.colors.link, 0.4), padding="4px 14px")
    return f'{opened}<p style="margin-top:0;margin-bottom:6px;font-size:small;">{title}</p>{html}{BOX_CLOSE}'


def _block_embed(token: Token, html: str) -> str:
    """Return the HTML of an embed, in a paragraph of its own if it stands alone."""
    return f'<p style="margin-top:0;margin-bottom:10px;">{html}</p>\n' if token.meta.get("alone") else html


def _link_open(page: RenderContext, token: Token) -> str:
    href = str(token.attrGet("href") or "")
    if href.lower().startswith(_WEB):
        page.links.append("</a>")
        return f'<a href="{quote_attribute(href)}" style="color:{page.colors.link};">'
    if SCHEME.match(href):
        page.links.append("</span>")
        return f'<span style="color:{page.colors.muted};">'
    page.links.append("</a>")
    path, _, fragment = href.partition("#")
    return _link_tag(page, unquote(path), fragment_of(unquote(fragment)))


def _link_close(page: RenderContext, token: Token) -> str:
    return page.links.pop() if page.links else ""


def _image(page: RenderContext, token: Token) -> str:
    words = "".join(child.content for child in token.children or [])
    text, width, height = split_size(words if "|" in words else f"|{words}")
    return image_html(page, str(token.attrGet("src") or ""), text.strip("|"), width, height)


def _footnote_ref(page: RenderContext, token: Token) -> str:
    number = token.meta["id"] + 1
    style = f"color:{page.colors.link};text-decoration:none;"
    mark = f'<sup><a href="#fn{number}" style="{style}">{number}</a></sup>'
    return (anchor_html(f"fnref{number}") if not token.meta.get("subId") else "") + mark


def _note_link(page: RenderContext, link: Link, words: str) -> str:
    fragment = f"^{link.block}" if link.block else fragment_of(link.heading or "")
    return f"{_link_tag(page, link.target, fragment)}{escape(words, quote=False)}</a>"


def _link_tag(page: RenderContext, target: str, fragment: str) -> str:
    """Return the opening tag of a link to `target`; an empty target is the same note."""
    address_fragment = f"#{quote_address(fragment)}" if fragment else ""
    resolved = page.resolve(target) if target else None
    href, color = address_fragment, page.colors.link
    if resolved:
        href = f"note:{quote_address(resolved.path)}{address_fragment}"
    elif target:
        href, color = f"unresolved:{quote_address(target)}{address_fragment}", page.colors.unresolved
    return f'<a href="{href}" style="color:{color};text-decoration:{page.link_decoration};">'


def _link_text(link: Link) -> str:
    """Return the text of a link without an alias: `Note > Heading`."""
    parts = [link.target, *(link.heading or "").split("#"), f"^{link.block}" if link.block else ""]
    return LINK_SEPARATOR.join(part.strip() for part in parts if part.strip())


INLINES: dict[str, Rule] = {
    "text": _text,
    "text_special": _text,
    "code_inline": _code,
    "math_inline": _math,
    "math_inline_double": _math,
    "html_inline": _html,
    "mark_open": _mark_open,
    "mark_close": lambda page, token: "</span>",
    "field_key": _field_key,
    "field_value_open": lambda page, token: "",
    "field_value_close": lambda page, token: "",
    "anchor": _anchor,
    "tag": _tag,
    "wiki_link": _wiki_link,
    "embed": _embed,
    "link_open": _link_open,
    "link_close": _link_close,
    "image": _image,
    "softbreak": lambda page, token: "<br>",
    "hardbreak": lambda page, token: "<br>",
    "footnote_ref": _footnote_ref,
}
