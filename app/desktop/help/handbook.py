"""Read the handbook, a small vault whose notes are the hand-written help pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.desktop.runtime.translation import QT_TRANSLATE_NOOP, translate
from app.vault.markdown.scan import scan

if TYPE_CHECKING:
    from app.workspace import VaultService

GROUPS = (
    QT_TRANSLATE_NOOP("HelpPages", "Start"),
    QT_TRANSLATE_NOOP("HelpPages", "Tasks"),
    QT_TRANSLATE_NOOP("HelpPages", "Panels"),
    QT_TRANSLATE_NOOP("HelpPages", "Reference"),
)
"""The groups of pages, in the order of the list, in English, as in the pages' properties."""
_PLACEHOLDER = re.compile(r"\{(note|other|tag|folder)\}")
# Names that are safe in Markdown and in a search.
_PLAIN_NAME = re.compile(r"[^\W_][\w ,.'’-]{0,38}[^\W_]")
_LAST_POSITION = 1000


@dataclass(frozen=True, slots=True)
class HelpPage:
    """A help page.

    Attributes:
        id: The target of links to the page; for a handbook page, its file's name without the suffix.
        group: The label of the group in which the page is listed.
        title: The title in the list.
        text: The page as Markdown, which may start with properties.
        panels: The ids of the panels that the page explains.
    """

    id: str
    group: str
    title: str
    text: str
    panels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExampleNames:
    """Names for the examples of the handbook: those of the open vault, or neutral ones without a vault."""

    note: str = "My note"
    other: str = "Another note"
    tag: str = "project"
    folder: str = "Ideas"

    def fill(self, text: str) -> str:
        """Return the text with its placeholders (for example `{note}`) replaced."""
        return _PLACEHOLDER.sub(lambda match: str(getattr(self, match[1])), text)


def example_names(vault: VaultService) -> ExampleNames:
    """Return two well-linked notes, a tag and a folder of the vault, with defaults for missing ones.

    Call it in the service thread.
    """
    defaults = ExampleNames()
    paths = [path for path in vault.notes.most_linked(60) if _PLAIN_NAME.fullmatch(path.name)]
    tags = sorted(vault.notes.tags(), key=lambda tag: -tag.count)
    plain_tags = [tag.tag for tag in tags if _PLAIN_NAME.fullmatch(tag.tag)]
    top_folders = [path.text.partition("/")[0] for path in paths if "/" in path.text]
    folders = [name for name in top_folders if _PLAIN_NAME.fullmatch(name)]
    return ExampleNames(
        note=paths[0].name if paths else defaults.note,
        other=paths[1].name if len(paths) > 1 else defaults.other,
        tag=plain_tags[0] if plain_tags else defaults.tag,
        folder=folders[0] if folders else defaults.folder,
    )


def read_handbook(folder: Path, names: ExampleNames) -> tuple[HelpPage, ...]:
    """Return the handbook's pages in the order in which they are listed.

    Args:
        folder: The folder of the handbook's notes.
        names: Replacements for the placeholders in examples.

    Raises:
        OSError: A page can't be read.
        ValueError: A page names an unknown group, or is not UTF-8.
    """
    ordered = []
    for file in folder.glob("*.md"):
        page, position = _read_page(file, names)
        ordered.append(((*position, page.title.casefold()), page))
    return tuple(page for _, page in sorted(ordered, key=lambda item: item[0]))


def _read_page(file: Path, names: ExampleNames) -> tuple[HelpPage, tuple[int, int]]:
    """Return a page, and its position: the index of its group and its number in the group."""
    text = names.fill(file.read_text("utf-8"))
    properties = scan(text).properties
    group = str(properties.get("group", ""))
    if group not in GROUPS:
        raise ValueError(f"{file.name}: unknown group {group!r}")
    order = properties.get("order")
    page = HelpPage(
        file.stem, translate("HelpPages", group), file.stem, text, _to_strings(properties, "panel")
    )
    return page, (GROUPS.index(group), order if isinstance(order, int) else _LAST_POSITION)


def _to_strings(properties: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = properties.get(name)
    values = value if isinstance(value, list | tuple) else () if value is None else (value,)
    return tuple(map(str, values))
