"""Rendering of notes as HTML for a `QTextBrowser`: nothing loads from outside, runs or escapes its box.

URLs are `note:PATH#anchor` for a note or file in the vault, `unresolved:NAME` for a missing note, `tag:NAME`,
`vault:PATH` for an image, `#anchor` within the note, web and mail URLs, those of drawn images (see `Draw`)
and those of actions (see `render`).
Anchors are the heading's text, its key (`headings.heading_key`), its path of keys (`one#two`), and `^id` for
blocks.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.headings import heading_matches, section_at
from app.vault.markdown.masking import code_spans
from app.vault.markdown.render_blocks import BLOCKS
from app.vault.markdown.render_inlines import INLINES
from app.vault.markdown.render_page import MONOSPACE, RenderContext
from app.vault.markdown.render_rules import vault_plugin
from app.vault.markdown.render_values import Draw, Interaction, NoteTarget, RenderColors, Resolve
from app.vault.markdown.scan import scan
from app.vault.markdown.text import apply_edits
from app.vault.note import Link

MAX_EMBED_DEPTH = 3
MAX_EMBEDS = 60
_MAX_LINE_CHARS = 40_000
_MAX_BRACKETS = 20_000
_LIST_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_RULES = {**BLOCKS, **INLINES}
_PARSERS = threading.local()


@dataclass(frozen=True, slots=True)
class _Nesting:
    """The position of a text among embeds: the enclosing notes or parts, their depth and the embeds left."""

    enclosing: tuple[str, ...]
    depth: int = 0
    embeds_left: list[int] = field(default_factory=lambda: [MAX_EMBEDS])


def render(
    text: str,
    resolve: Resolve,
    colors: RenderColors | None = None,
    *,
    path: str = "",
    draw: Draw = lambda kind, source: None,
    interaction: Interaction | None = None,
) -> str:
    """Render a note as HTML, without its properties and comments.

    Text with extremely long lines or many brackets is shown as preformatted text.

    Args:
        text: A note's text.
        resolve: Returns a link's target, or None if it is unresolved. It is called for each link and image
            that is not on the web; pass `NoteTarget.text` as a function so that only embedded notes are read.
        colors: The colors; those of a light theme by default.
        path: The note's own path, so that it does not embed itself as a whole.
        draw: Draws formulas and diagrams; undrawn ones appear as text.
        interaction: The interactive state; None for a printed or exported page, which shows all text and has
            no links for actions. Otherwise, task boxes link to `task:NUMBER#TEXT`, where the number counts
            tasks with the same text, and callout marks link to `fold:NAME`. Callouts in embedded notes
            can be folded, too, but tasks in them can't be checked.
    """
    colors = colors or RenderColors()
    note = NoteTarget(path, text)
    body = _body_html(text, note, resolve, colors, _Nesting((path,) if path else ()), draw, interaction)
    return f'<html><body style="color:{colors.text};">{body}</body></html>'


def _body_html(
    text: str,
    note: NoteTarget,
    resolve: Resolve,
    colors: RenderColors,
    nesting: _Nesting,
    draw: Draw,
    interaction: Interaction | None,
) -> str:
    start = read_frontmatter(text).body_start
    visible = _without_comments(text, start)
    if max(map(len, visible.split("\n"))) > _MAX_LINE_CHARS or visible.count("[") > _MAX_BRACKETS:
        # Markdown parsers take quadratic time on such text, and it is not prose.
        style = f"white-space:pre-wrap;font-family:{MONOSPACE};"
        return f'<pre style="{style}">{escape(visible, quote=False)}</pre>'

    def embed(link: Link, target: NoteTarget) -> str | None:
        embedded = f"{target.path}#{link.heading or ''}^{link.block or ''}".removesuffix("#^")
        if nesting.depth >= MAX_EMBED_DEPTH or embedded in nesting.enclosing or nesting.embeds_left[0] <= 0:
            return None
        content = target.body()
        if content is None:
            return None
        nesting.embeds_left[0] -= 1
        part = _embedded_part(content, link)
        inner_nesting = replace(nesting, enclosing=(*nesting.enclosing, embedded), depth=nesting.depth + 1)
        return _body_html(
            part, NoteTarget(target.path, content), resolve, colors, inner_nesting, draw, interaction
        )

    scope = "/".join(nesting.enclosing[-nesting.depth :]) if nesting.depth else ""
    page = RenderContext(note, resolve, colors, embed, _write, draw, interaction=interaction, scope=scope)
    return _write(page, _parser().parse(visible))


def _write(page: RenderContext, tokens: Sequence[Token]) -> str:
    """Return the HTML of tokens; raw tags left open are closed at the end of their block."""
    pieces: list[str] = []
    folded_level = -1
    for token in tokens:
        if folded_level >= 0:
            if token.type != "callout_close" or token.level != folded_level:
                _count_hidden(page, token)
                continue
            folded_level = -1
        if token.type == "callout_open" and page.interaction is not None:
            token.meta["folded"] = _is_folded(page, token, page.interaction)
            folded_level = token.level if token.meta["folded"] else -1
        rule = _RULES.get(token.type)
        if rule:
            pieces.append(rule(page, token))
        elif token.type == "inline":
            pieces.append(_write_inline(page, token.children or []))
            pieces += [f"</{name}>" for name in reversed(page.opened_tags)]
            page.opened_tags.clear()
        elif token.tag and not token.hidden:
            pieces.append(f"</{token.tag}>" if token.nesting < 0 else f"<{token.tag}>")
    return "".join(pieces)


def _write_inline(page: RenderContext, tokens: Sequence[Token]) -> str:
    """Return the HTML of a paragraph; the first line is crossed out if it is the text of a done task."""
    is_done, page.in_done_task = page.in_done_task, False
    if not is_done:
        return _write(page, tokens)
    breaks = (
        index
        for index, token in enumerate(tokens)
        if token.type in ("softbreak", "hardbreak") and not token.level
    )
    end = next(breaks, len(tokens))
    page.link_decoration = "none line-through"
    line = _write(page, tokens[:end])
    page.link_decoration = "none"
    style = f"color:{page.colors.muted};text-decoration:line-through;"
    return f'<span style="{style}">{line}</span>{_write(page, tokens[end:])}'


def _is_folded(page: RenderContext, token: Token, interaction: Interaction) -> bool:
    """Return whether a callout shows only its title, and name it if it can be folded."""
    if not token.meta["fold"]:
        return False
    number, page.callouts = page.callouts, page.callouts + 1
    name = token.meta["name"] = f"{number} {page.scope}".strip()
    return bool(token.meta["fold"] == "-") != (name in interaction.toggled)


def _count_hidden(page: RenderContext, token: Token) -> None:
    """Count a task or callout in a folded one, so that those after it keep their numbers."""
    if token.type == "callout_open":
        page.callouts += bool(token.meta["fold"])
    elif "task" in token.meta:
        page.tasks[token.meta["task"]] += 1


def _parser() -> MarkdownIt:
    """Return this thread's parser; linkify has state, so threads can't share one, and creation is slow."""
    parser: MarkdownIt | None = getattr(_PARSERS, "parser", None)
    if parser is None:
        parser = _PARSERS.parser = _create_parser()
    return parser


def _create_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "linkify": True})
    parser.enable(["table", "strikethrough", "linkify"]).use(footnote_plugin)
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    parser.use(vault_plugin)
    if parser.linkify is not None:
        parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    return parser


def _without_comments(text: str, start: int) -> str:
    """Return `text` from `start` on, without comments and without lines that contain only a comment."""
    edits = []
    for code_start, code_end in code_spans(text, start):
        if not text.startswith(("%%", "<!--"), code_start):
            continue
        is_alone = text[code_start - 1 : code_start] in ("", "\n") and text[code_end : code_end + 1] == "\n"
        edits.append((code_start - start, code_end + is_alone - start, ""))
    return apply_edits(text[start:], edits)


def _embedded_part(text: str, link: Link) -> str:
    """Return the text that an embed shows: the section, the block, or the whole note if neither is found."""
    if link.heading:
        headings = scan(text).headings
        matches = heading_matches(headings, link.heading)
        if matches:
            section = section_at(text, headings, matches[0])
            return text[section.heading.span.start : section.end]
    if link.block:
        return _block_text(text, link.block)
    return text


def _block_text(text: str, block: str) -> str:
    """Return the paragraph or list item that a block id ends, or the block above an id on its own line.

    Without the id, return the whole text.
    """
    lines = text.split("\n")
    number = next((b.line for b in scan(text).blocks if b.id.casefold() == block.casefold()), 0)
    if not number:
        return text
    last = number - 1
    is_on_own_line = not lines[last].split("^")[0].strip(" >\t")
    if is_on_own_line:
        last -= 1
        while last > 0 and not lines[last].strip():
            last -= 1
    first = last
    while first > 0 and lines[first - 1].strip() and not lines[first - 1].startswith("#"):
        if not is_on_own_line and _LIST_ITEM.match(lines[first]):
            break
        first -= 1
    return "\n".join(lines[first : last + 1])
