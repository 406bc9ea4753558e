"""Load the data for a note view: HTML, drawings, links, related notes, mentions.

The functions are called in the service thread; slow work runs in worker threads. The only parts of Qt used
here are `QImage` and `translate`, which are safe in any thread.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtGui import QImage

from app.desktop.notes.editor.drawing_worker import draw
from app.desktop.notes.editor.drawings import Drawing, DrawingRequest
from app.desktop.notes.editor.embeds import IMAGE_SUFFIXES
from app.desktop.notes.reading_view import Rendered
from app.desktop.runtime.translation import translate
from app.desktop.theme.colors import DARK, LIGHT
from app.errors import ScriptoriumError
from app.index.records import LinkRecord, Mention, NoteRecord
from app.toolkit.related import RelatedNote
from app.vault.markdown.render import render
from app.vault.markdown.render_values import DrawnImage, Interaction, NoteTarget, RenderColors
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath
from app.vault.reference import parse_reference

if TYPE_CHECKING:
    from app.workspace import VaultService

# The HTML of a longer note would block the window for over a second: Qt lays it out in the GUI thread.
_MAX_RENDERED_CHARS = 200_000
_MAX_IMAGES = 60
_MAX_RELATED_NOTES = 12
_TEXT_POINTS = 10.5
# Formulas and diagrams are drawn at double resolution, for high-resolution screens and printing.
_DRAWING_RATIO = 2.0
_DIAGRAM_WIDTH = 700
# Additional drawings in a note are shown as text: each takes a few milliseconds.
_MAX_DRAWINGS = 300
_MAX_IMAGE_BYTES = 24 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class NoteContext:
    """A note's record and its links in both directions, from the index."""

    record: NoteRecord | None
    backlinks: tuple[LinkRecord, ...]
    outgoing: tuple[LinkRecord, ...]


def load_context(vault: VaultService, path: NotePath) -> NoteContext:
    """Read the record and the links of the note at `path` from the index."""
    notes = vault.notes
    return NoteContext(notes.record(path), notes.backlinks(path), notes.outgoing(path))


def load_related(vault: VaultService, path: NotePath) -> tuple[RelatedNote, ...]:
    """Return the notes related by more than a link, closest first."""
    return vault.notes.related(path, _MAX_RELATED_NOTES)


async def load_mentions(vault: VaultService, path: NotePath) -> tuple[Mention, ...]:
    """Return the unlinked mentions of a note, none if it is not indexed; slow, as it may read every note."""
    if vault.notes.record(path) is None:
        return ()
    return await asyncio.to_thread(vault.notes.unlinked_mentions, path)


async def render_note(
    vault: VaultService,
    path: NotePath,
    text: str,
    colors: RenderColors,
    *,
    truncate: bool = True,
    points: float = _TEXT_POINTS,
    interaction: Interaction | None = None,
) -> Rendered:
    """Render `text`, the text of the note at `path`, for the reading view.

    Args:
        vault: The open vault.
        path: The note.
        text: Its text.
        colors: The colors of the page.
        truncate: Whether to render only the beginning of a long text, with a warning.
        points: The font size in points, which formulas match.
        interaction: Makes tasks and callouts clickable; None for a static page.
    """
    if len(text) > _MAX_RENDERED_CHARS and truncate:
        title = translate("NoteLoader", "Only the beginning is shown")
        advice = translate(
            "NoteLoader",
            "The note is too long for the reading view. Press Ctrl+E to see all of it in live preview.",
        )
        warning = f"> [!warning] {title}\n> {advice}\n"
        end = text.rfind("\n\n", 0, _MAX_RENDERED_CHARS)
        text = f"{text[: end if end > 0 else _MAX_RENDERED_CHARS]}\n\n{warning}"
    return await asyncio.to_thread(_render, vault, path, text, colors, points, interaction)


def _render(
    vault: VaultService,
    path: NotePath,
    text: str,
    colors: RenderColors,
    points: float = _TEXT_POINTS,
    interaction: Interaction | None = None,
) -> Rendered:
    image_paths: list[NotePath] = []
    images: dict[str, QImage] = {}

    def draw_source(kind: str, source: str) -> DrawnImage | None:
        if len(images) >= _MAX_DRAWINGS:
            return None
        width = _DIAGRAM_WIDTH if kind == "mermaid" else 0
        request = DrawingRequest(kind, source, width, points, colors.text, _DRAWING_RATIO, colors.is_dark)
        drawing = draw(request, lambda _: None)
        if drawing.image is None:
            return None
        address = f"drawing:{hashlib.sha256(repr(request).encode()).hexdigest()}"
        images[address] = drawing.image
        drawing.image.setDevicePixelRatio(_DRAWING_RATIO)
        return DrawnImage(address, max(1, round(drawing.width)), max(1, round(drawing.height)))

    def resolve(target: str) -> NoteTarget | None:
        resolved = vault.notes.resolve(target, path).path
        if resolved is None:
            return None
        if resolved.suffix in IMAGE_SUFFIXES:
            image_paths.append(resolved)
        return NoteTarget(
            str(resolved), partial(_read_embedded, vault, resolved) if resolved.is_note else None
        )

    html = render(text, resolve, colors, path=str(path), draw=draw_source, interaction=interaction)
    for image_path in islice(dict.fromkeys(image_paths), _MAX_IMAGES):
        image = _load_image(vault, image_path)
        if image is not None:
            images[f"vault:{image_path}"] = image
    return Rendered(html, images)


def _read_embedded(vault: VaultService, path: NotePath) -> str | None:
    """Return the text of a note to embed; None if it can't be read."""
    try:
        return decode_lossy(vault.notes.read(path))
    except ScriptoriumError:
        return None


def _load_image(vault: VaultService, path: NotePath) -> QImage | None:
    try:
        content = vault.notes.read(path)
    except ScriptoriumError:
        return None
    if len(content) > _MAX_IMAGE_BYTES:
        return None
    image = QImage.fromData(content)
    return None if image.isNull() else image


async def load_drawing(vault: VaultService, path: NotePath, request: DrawingRequest) -> Drawing:
    """Draw an image, embed, formula or diagram for the editor of the note at `path`."""
    return await asyncio.to_thread(_draw, vault, path, request)


def _draw(vault: VaultService, path: NotePath, request: DrawingRequest) -> Drawing:
    def load_image(target: str) -> QImage | None:
        resolved = vault.notes.resolve(target, path).path
        return (
            _load_image(vault, resolved)
            if resolved is not None and resolved.suffix in IMAGE_SUFFIXES
            else None
        )

    def render_embed(target: str, width: int) -> tuple[str, dict[str, QImage]] | None:
        name = target.partition("|")[0]
        resolved = vault.notes.resolve(parse_reference(f"[[{name}]]").target, path).path
        if resolved is None or not resolved.is_note:
            return None
        colors = RenderColors.of(DARK if request.is_dark else LIGHT)
        if name.startswith("#"):
            # A part of this note: without its path, `#` would refer to the text rendered here.
            name = f"{path.stem_path}{name}"
        rendered = _render(vault, path, f"![[{name}]]", colors, interaction=Interaction())
        return rendered.html, rendered.images

    return draw(request, load_image, render_embed)
