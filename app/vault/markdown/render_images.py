"""HTML for images: vault images as `vault:` URLs, web images as links, so that nothing is downloaded."""

from __future__ import annotations

import re
from html import escape
from urllib.parse import unquote

from app.vault.markdown.links import SCHEME
from app.vault.markdown.render_page import (
    IMAGE_SUFFIXES,
    RenderContext,
    quote_address,
    quote_attribute,
)

_SIZE = re.compile(r"(\d{1,4})(?:x(\d{1,4}))?")


def split_size(words: str) -> tuple[str, str, str]:
    """Split `text|640x480`, or only a size, into text, width and height; a missing part is empty."""
    text, _, size = words.rpartition("|")
    match = _SIZE.fullmatch(size.strip())
    return (text, match[1], match[2] or "") if match else (words, "", "")


def image_html(page: RenderContext, source: str, text: str, width: str = "", height: str = "") -> str:
    """Return the HTML for an image with this source: the image, a link to the web, or only its text."""
    alt_text = escape(text.strip() or unquote(source).rpartition("/")[2] or source, quote=False)
    if source.lower().startswith(("http://", "https://")):
        return f'<a style="color:{page.colors.link};" href="{quote_attribute(source)}">🖼 {alt_text}</a>'
    target = None if SCHEME.match(source) else page.resolve(unquote(source))
    if target is None or not target.path.lower().endswith(IMAGE_SUFFIXES):
        return f'<span style="color:{page.colors.unresolved};">🖼 {alt_text}</span>'
    return vault_image(target.path, width, height)


def vault_image(path: str, width: str = "", height: str = "") -> str:
    """Return the HTML for an image in the vault; sizes are in pixels, and invalid ones are ignored."""
    sizes = f' width="{int(width)}"' if re.fullmatch(r"\d{1,4}", width) else ""
    sizes += f' height="{int(height)}"' if re.fullmatch(r"\d{1,4}", height) else ""
    return f'<img src="vault:{quote_address(path)}"{sizes} style="max-width:100%;">'
