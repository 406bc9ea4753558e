"""markdown-it rules for vault syntax beyond CommonMark.

Inline: wikilinks and embeds, tags, highlights, inline fields, block ids. Blocks: callouts, task boxes and
standalone embeds. The rules only produce tokens; `render_blocks` and `render_inlines` write the HTML.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from app.vault.markdown.inline import TAG_CHARACTER, is_tag_name
from app.vault.markdown.links import wiki_link
from app.vault.markdown.render_page import IMAGE_SUFFIXES

_WIKI = re.compile(r"!?\[\[((?>[^\[\]\n]+|\](?!\])|\[(?!\[))++)\]\]")
_TAG = re.compile(rf"#({TAG_CHARACTER}++)")
_BEFORE_TAG = re.compile(r"[\s(>*_~,;（「『【《〈，。、；：！？…—]")
_BLOCK_ID = re.compile(r"\^([A-Za-z0-9-]+)[ \t]*(?=\n|\Z)")
_FIELD = re.compile(
    r"\[(\w[\w /-]{0,79}?)::[ \t]*([^\[\]\n]*+(?:\[\[[^\[\]\n]*+\]\][^\[\]\n]*+)*+)\]"
    r"|\((\w[\w /-]{0,79}?)::[ \t]*([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)*+)\)"
)
_LINE_FIELD = re.compile(r"[*_]*(\w[\w /-]{0,79}?)[*_]*::[*_]*(?=[ \t])")
_CALLOUT = re.compile(r"\[!([\w-]{1,40})(?:\|[^\]\n]*)?\]([+-]?)[ \t]*([^\n]*)\n?")
_BOX = re.compile(r"\[(.)\][ \t]+")
_SYNONYMS = {
    "summary": "abstract",
    "tldr": "abstract",
    "hint": "tip",
    "important": "tip",
    "check": "success",
    "done": "success",
    "help": "question",
    "faq": "question",
    "caution": "warning",
    "attention": "warning",
    "fail": "failure",
    "missing": "failure",
    "error": "danger",
    "cite": "quote",
}


def vault_plugin(md: MarkdownIt) -> None:
    """Add the rules to a parser."""
    md.inline.add_terminator_char("(")
    md.inline.ruler.before("text", "line_field", _line_field)
    md.inline.ruler.before("link", "wiki_link", _wiki_link)
    md.inline.ruler.before("link", "field", _field)
    md.inline.ruler.before("link", "tag", _tag)
    md.inline.ruler.before("link", "mark", _mark)
    md.inline.ruler.before("link", "block_id", _block_id)
    md.core.ruler.before("inline", "callouts", _callouts)
    md.core.ruler.before("inline", "tasks", _tasks)
    md.core.ruler.push("annotations", _annotate_tokens)


def callout_kind(name: str) -> str:
    """Return the kind of callout for a name, which may be a synonym."""
    return _SYNONYMS.get(name.lower(), name.lower())


def _wiki_link(state: StateInline, silent: bool) -> bool:
    match = _WIKI.match(state.src, state.pos, state.posMax) if state.src[state.pos] in "![" else None
    link = wiki_link(match[1], match.start(), match.end(), match[0][0] == "!", 0) if match else None
    if match is None or link is None:
        return False
    if not silent:
        state.push("embed" if link.embed else "wiki_link", "a", 0).meta = {"link": link}
    state.pos = match.end()
    return True


def _tag(state: StateInline, silent: bool) -> bool:
    position = state.pos
    if (
        state.src[position] != "#"
        or state.linkLevel > 0
        or (position and not _BEFORE_TAG.match(state.src[position - 1]))
    ):
        return False
    match = _TAG.match(state.src, position, state.posMax)
    name = match[1].strip("/") if match else ""
    if match is None or not name or not is_tag_name(name):
        return False
    if not silent:
        state.push("tag", "a", 0).content = name
    state.pos = position + 1 + len(match[1].rstrip("/"))
    return True


def _mark(state: StateInline, silent: bool) -> bool:
    position = state.pos
    if not state.src.startswith("==", position) or state.src[position + 2 : position + 3] in ("", " ", "="):
        return False
    end = state.src.find("==", position + 2, state.posMax)
    if end < 0 or state.src[end - 1] in " \n":
        return False
    if not silent:
        _parse_nested(state, "mark", position + 2, end)
    state.pos = end + 2
    return True


def _field(state: StateInline, silent: bool) -> bool:
    match = _FIELD.match(state.src, state.pos, state.posMax) if state.src[state.pos] in "[(" else None
    if match is None:
        return False
    if not silent:
        is_square = match[1] is not None
        state.push("field_key", "span", 0).content = match[1] if is_square else match[3]
        _parse_nested(
            state, "field_value", match.start(2 if is_square else 4), match.end(2 if is_square else 4)
        )
    state.pos = match.end()
    return True


def _line_field(state: StateInline, silent: bool) -> bool:
    position = state.pos
    if position and state.src[position - 1] != "\n":
        return False
    match = _LINE_FIELD.match(state.src, position, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("field_key", "span", 0).content = match[1]
    state.pos = match.end()
    return True


def _block_id(state: StateInline, silent: bool) -> bool:
    position = state.pos
    if state.src[position] != "^" or (position and state.src[position - 1] not in " \t\n"):
        return False
    match = _BLOCK_ID.match(state.src, position, state.posMax)
    if match is None:
        return False
    if not silent:
        state.pending = state.pending.rstrip()
        state.push("anchor", "a", 0).content = f"^{match[1]}"
    state.pos = match.end()
    return True


def _parse_nested(state: StateInline, kind: str, start: int, end: int) -> None:
    """Add the tokens between `start` and `end` inside an opening and a closing token."""
    previous_end = state.posMax
    state.push(f"{kind}_open", "span", 1)
    state.pos, state.posMax = start, end
    state.md.inline.tokenize(state)
    state.push(f"{kind}_close", "span", -1)
    state.posMax = previous_end


def _callouts(state: StateCore) -> None:
    """Turn quotes that start with `[!kind] title` into callouts."""
    tokens = state.tokens
    for index, token in enumerate(tokens):
        if token.type != "blockquote_open" or tokens[index + 1].type != "paragraph_open":
            continue
        inline = tokens[index + 2]
        match = _CALLOUT.match(inline.content)
        if match is None:
            continue
        name, title = match[1], match[3].strip()
        closing = next(t for t in tokens[index:] if t.type == "blockquote_close" and t.level == token.level)
        token.type, closing.type = "callout_open", "callout_close"
        words: list[Token] = []
        state.md.inline.parse(title or name.capitalize(), state.md, state.env, words)
        title_token = Token("inline", "", 0, children=words)
        token.meta = {"kind": callout_kind(name), "title": title_token, "fold": match[2]}
        inline.content = inline.content[match.end() :]
        if not inline.content.strip():
            tokens[index + 1].meta = tokens[index + 3].meta = {"bare": True}


def _tasks(state: StateCore) -> None:
    """Move task boxes from the text of list items to the items' metadata."""
    tokens = state.tokens
    for index, token in enumerate(tokens):
        is_text = token.type == "inline" and index > 1 and tokens[index - 2].type == "list_item_open"
        match = _BOX.match(token.content) if is_text else None
        if match:
            token.content = token.content[match.end() :]
            text = token.content.partition("\n")[0].strip()
            tokens[index - 2].meta = {"box": match[1], "task": text, "loose": not tokens[index - 1].hidden}
            # The text follows the box instead of starting a paragraph below it.
            tokens[index - 1].meta = tokens[index + 1].meta = {"bare": True}


def _annotate_tokens(state: StateCore) -> None:
    """Annotate tokens for the writers: heading texts, nested lists, standalone embeds and pictures."""
    tokens = state.tokens
    depth = 0
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            token.meta = {"text": tokens[index + 1].content}
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            token.meta = {"inner": depth > 0}
            depth += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
        elif token.type == "inline" and tokens[index - 1].type == "paragraph_open":
            if _has_only_embeds(token):
                tokens[index - 1].meta = tokens[index + 1].meta = {"bare": True}
                for child in token.children or []:
                    child.meta = {**child.meta, "alone": True}
            if any(_is_picture(child) for child in token.children or []):
                for opened in tokens[max(0, index - 2) : index]:
                    opened.meta = {**opened.meta, "pictures": True}


def _is_picture(token: Token) -> bool:
    is_file = token.type == "embed" and token.meta["link"].target.lower().endswith(IMAGE_SUFFIXES)
    return is_file or token.type == "image" or (token.type == "html_inline" and "<img" in token.content)


def _has_only_embeds(token: Token) -> bool:
    kinds = {child.type for child in token.children or [] if child.type != "text" or child.content.strip()}
    return "embed" in kinds and kinds <= {"embed", "softbreak", "hardbreak", "anchor"}
