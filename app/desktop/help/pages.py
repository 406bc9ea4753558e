"""The pages of the help, as Markdown: the handbook, and pages made from the tools and the commands."""

from __future__ import annotations

from collections.abc import Iterable

from app import __version__, paths
from app.desktop.help.handbook import ExampleNames, HelpPage, read_handbook
from app.desktop.shell.registry import COMMANDS, MENUS, shortcut_text, translate
from app.toolkit.documentation import catalog_page, tool_page
from app.toolkit.registry import ToolCatalog

FIRST, SHORTCUTS, ABOUT, TOOLS = "First steps", "shortcuts", "about", "tools"
_PANEL = "panel:"
_MODEL = "all-MiniLM-L6-v2-int8"


def help_pages(tools: ToolCatalog, names: ExampleNames | None = None) -> tuple[HelpPage, ...]:
    """Return every page in the order of the list: the handbook, then the tools by category.

    Args:
        tools: The tools.
        names: Names for the examples; neutral ones if None.
    """
    handbook = paths.resources_folder() / "handbook"
    pages = list(read_handbook(handbook, names or ExampleNames()))
    pages.append(HelpPage(SHORTCUTS, "Reference", "Keyboard shortcuts", shortcuts_page()))
    pages.append(HelpPage(TOOLS, "Reference", "Tools", catalog_page(tools)))
    pages.append(HelpPage(ABOUT, "Reference", "About", about_page()))
    for category in tools.categories:
        pages += [
            HelpPage(f"tool:{tool.name}", category.name, tool.name, tool_page(tool, category))
            for tool in tools.all_tools()
            if tool.category == category.id
        ]
    return tuple(pages)


def page_id(pages: Iterable[HelpPage], wanted: str) -> str:
    """Return the id of the page that a link or a button names.

    Args:
        pages: The existing pages.
        wanted: An id, a title, or `panel:` and the id of a panel.

    Returns:
        The id; empty if there is no such page.
    """
    if wanted.startswith(_PANEL):
        panel = wanted.removeprefix(_PANEL)
        return next((page.id for page in pages if panel in page.panels), "")
    name = wanted.casefold()
    return next((page.id for page in pages if name in (page.id.casefold(), page.title.casefold())), "")


def shortcuts_page() -> str:
    """Return the page of commands with a shortcut, by menu; the palette lists all commands."""
    parts = ["# Keyboard shortcuts", "The command palette shows every command, with its shortcut."]
    for menu in MENUS:
        rows = [
            f"| {translate(command.title).rstrip('…')} | `{shortcut_text(command)}` |"
            for command in COMMANDS
            if command.menu == menu and command.shortcuts
        ]
        if rows:
            parts.append(f"## {translate(menu)}\n\n| command | keys |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def about_page() -> str:
    """Return the page with version, license, and the included third-party software with its licenses."""
    return (
        "\n\n".join(
            [
                "# Scriptorium",
                f"Version {__version__}. MIT licence.",
                "A desktop app over a folder of Markdown notes. Nothing leaves this machine unless you set "
                "it up to, and each change of an agent is shown to you before it is written.",
                "## Sentence model",
                _notice(),
                "## Icons",
                "Phosphor Icons 1.3 (phosphoricons.com), MIT licence; from the font that QtAwesome brings, "
                "MIT licence.",
                "## Qt",
                "Qt and PySide6 are used under the LGPL 3; they are separate libraries that you may replace.",
                *_notices(),
            ]
        )
        + "\n"
    )


def _notices() -> tuple[str, ...]:
    """Return the folder of an installed app's third-party licenses; None in a checkout."""
    file = paths.resources_folder() / "licenses" / "THIRD-PARTY-NOTICES.txt"
    if not file.is_file():
        return ()
    return ("## All parts", f"The licences of all parts, and how to replace Qt: {file}")


def _notice() -> str:
    """Return the part of the included model's notice about its origin, before the license texts."""
    file = paths.resources_folder() / "models" / _MODEL / "NOTICE"
    try:
        said = file.read_text("utf-8").partition("\n---")[0].strip()
        return "\n\n".join(" ".join(part.split()) for part in said.split("\n\n"))
    except OSError:
        return f"{_MODEL}: not shipped with this installation."
