"""Plans for link rewrites after renames and moves: the notes to change and the new targets.

A link to a moved file is rewritten if it would otherwise break or become ambiguous. It keeps its original
style: as short as possible, relative, or from the root, with or without `.md`. The same applies to links
inside a moved note. Ambiguous links are listed, but not changed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from app.index.names import note_suffix, target_key
from app.index.records import LinkRecord
from app.index.resolver import Resolver
from app.vault.note import Link, LinkStyle
from app.vault.path import NotePath

Rewrite = Callable[[Link], str | None]


@dataclass(frozen=True, slots=True)
class RenamePlan:
    """The link rewrites, by the notes' paths before the move.

    `rewrites[note](link)` returns the new target of a link in that note, or None to keep it. `ambiguous`
    links point to a moved file only because of the shortest-path rule; `captured` links pointed elsewhere and
    will point to a moved file. Both stay unchanged.
    """

    rewrites: Mapping[NotePath, Rewrite]
    ambiguous: tuple[LinkRecord, ...]
    captured: tuple[LinkRecord, ...] = ()


def plan_renames(
    resolver: Resolver, moves: Mapping[NotePath, NotePath], links: Iterable[LinkRecord]
) -> RenamePlan:
    """Plan the rewrites for moves from old to new paths.

    Args:
        resolver: The resolver for the vault's current state.
        moves: All files that move together.
        links: All links that point to a moved file, are in one, or may be captured.
    """
    all_links = list(links)
    ambiguous: list[LinkRecord] = []
    captured: list[LinkRecord] = []
    texts: dict[NotePath, dict[tuple[str, LinkStyle], str]] = {}
    with resolver.preview(moves):
        for link in all_links:
            source = moves.get(link.source, link.source)
            target = moves.get(link.target, link.target) if link.target else None
            resolved, is_ambiguous = resolver.pick(link.target_text, source)
            if target is None or not link.target_text:
                continue
            is_affected = link.target in moves or link.source in moves
            if (
                resolved is not None
                and resolved.path == target
                and (is_ambiguous <= link.ambiguous or not is_affected)
            ):
                continue
            if not is_affected:
                captured.append(link)
            elif link.ambiguous:
                ambiguous.append(link)
            else:
                for style in LinkStyle:
                    text = _new_text(resolver, link, source, target, style)
                    texts.setdefault(link.source, {})[link.target_text, style] = text
    return RenamePlan(
        {source: _rewriter(known) for source, known in texts.items()}, tuple(ambiguous), tuple(captured)
    )


def _rewriter(new_texts: Mapping[tuple[str, LinkStyle], str]) -> Rewrite:
    return lambda link: new_texts.get((link.target, link.style))


def _new_text(
    resolver: Resolver, link: LinkRecord, source: NotePath, target: NotePath, style: LinkStyle
) -> str:
    """Return the first unambiguous spelling of the new target, in the old style if possible.

    If all are ambiguous, return its path.
    """
    for text in _spellings(resolver, link, source, target, style):
        entry, ambiguous = resolver.pick(text, source)
        if entry is not None and entry.path == target and not ambiguous:
            return text
    return target.text


def _spellings(
    resolver: Resolver, link: LinkRecord, source: NotePath, target: NotePath, style: LinkStyle
) -> Iterable[str]:
    old_text, key = link.target_text.strip(), target_key(link.target_text)
    with_suffix = bool(note_suffix(key)) or not target.is_note
    full_path = target.text if with_suffix else target.stem_path
    old_target = link.target
    if old_text.startswith("/"):
        yield f"/{full_path}"
    elif old_text.startswith(("./", "../")):
        relative = _relative_target(target, source, with_suffix)
        yield relative if relative.startswith("../") else f"./{relative}"
    elif (
        style is LinkStyle.MARKDOWN
        and old_target
        and key == target_key(_relative_target(old_target, link.source, with_suffix))
    ):
        yield _relative_target(target, source, with_suffix)
    elif (
        "/" in old_text
        and old_target
        and key in (target_key(old_target.text), target_key(old_target.stem_path))
    ):
        yield full_path
    short = resolver.shortest(target, source, as_file=with_suffix or style is LinkStyle.MARKDOWN)
    yield short + target.text[len(target.stem_path) :] if with_suffix and target.is_note else short
    yield short
    yield full_path
    yield f"/{full_path}"


def _relative_target(path: NotePath, source: NotePath, with_suffix: bool) -> str:
    return _from_folder(path.text if with_suffix else path.stem_path, source.folder or ".")


@lru_cache(maxsize=256)
def _from_folder(text: str, folder: str) -> str:
    # Cached because it is slow, and thousands of linking notes are in only a few folders.
    return posixpath.relpath(text, folder)
