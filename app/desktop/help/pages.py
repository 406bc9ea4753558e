"""The help pages, as Markdown: the handbook, and pages generated from the tools and the commands."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from app import __version__, paths
from app.desktop.help.handbook import ExampleNames, HelpPage, example_names, read_handbook
from app.desktop.runtime.translation import translate
from app.desktop.shell.command_registry import COMMANDS, MENUS, translate_title
from app.desktop.shell.keymap import Keymap, short_title
from app.desktop.tool_form.labels import category_label
from app.errors import StorageError
from app.settings import ShortcutSettings
from app.toolkit.documentation import catalog_page, tool_page
from app.toolkit.registry import ToolCatalog

if TYPE_CHECKING:
    from app.workspace import VaultService

FIRST, SHORTCUTS, ABOUT, TOOLS = "First steps", "shortcuts", "about", "tools"
_PANEL = "panel:"
_MODEL = "all-MiniLM-L6-v2-int8"


def help_pages(tools: ToolCatalog, names: ExampleNames | None = None) -> tuple[HelpPage, ...]:
    """Return all pages in the order in which they are listed.

    The handbook comes first, then the default shortcuts, the list of tools and the about page, then the
    tools by category.

    Args:
        tools: The tools to document.
        names: Names for the examples; neutral ones if None.

    Raises:
        StorageError: The handbook can't be read.
    """
    pages = list(_read_handbook(names or ExampleNames()))
    group = translate("HelpPages", "Reference")
    pages += [
        HelpPage(
            SHORTCUTS,
            group,
            translate("HelpPages", "Keyboard shortcuts"),
            shortcuts_page(Keymap(ShortcutSettings())),
        ),
        HelpPage(TOOLS, group, translate("HelpPages", "Tools"), catalog_page(tools)),
        HelpPage(ABOUT, group, translate("HelpPages", "About"), about_page()),
    ]
    for category in tools.categories:
        pages += [
            HelpPage(f"tool:{tool.name}", category_label(category.name), tool.name, tool_page(tool, category))
            for tool in tools.all_tools()
            if tool.category == category.id
        ]
    return tuple(pages)


async def vault_pages(vault: VaultService) -> tuple[HelpPage, ...]:
    """Return all pages with the tools of an open vault, and with names from it in the examples.

    Call it in the service thread.

    Raises:
        StorageError: The handbook can't be read.
    """
    return await asyncio.to_thread(help_pages, vault.tools, example_names(vault))


def referenced_page(reference: str) -> str:
    """Return the id of the page that a command or a help button names.

    Args:
        reference: An id; or `panel:` and the id of a panel, which reads the handbook.

    Returns:
        The id; that of the first page if no page is named, or none explains the panel.

    Raises:
        StorageError: The handbook can't be read.
    """
    if not reference.startswith(_PANEL):
        return reference or FIRST
    return page_id(_read_handbook(ExampleNames()), reference) or FIRST


def page_id(pages: Iterable[HelpPage], reference: str) -> str:
    """Return the id of the page that a link or a button names.

    Args:
        pages: The existing pages.
        reference: An id, a title, or `panel:` and the id of a panel.

    Returns:
        The id; empty if there is no such page.
    """
    if reference.startswith(_PANEL):
        panel = reference.removeprefix(_PANEL)
        return next((page.id for page in pages if panel in page.panels), "")
    name = reference.casefold()
    return next((page.id for page in pages if name in (page.id.casefold(), page.title.casefold())), "")


def _read_handbook(names: ExampleNames) -> tuple[HelpPage, ...]:
    try:
        return read_handbook(paths.resources_folder() / "handbook", names)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        message = translate("HelpPages", "Could not read the handbook: {0}.").format(reason)
        raise StorageError(message) from error


def shortcuts_page(keymap: Keymap) -> str:
    """Return the page that lists the commands with shortcuts, by menu."""
    title = translate("HelpPages", "Keyboard shortcuts")
    parts = [
        f"# {title}",
        translate(
            "HelpPages",
            "The command palette lists every command and its shortcut. To change a shortcut, choose "
            "*Settings → Keyboard shortcuts*.",
        ),
    ]
    header = translate("HelpPages", "| Command | Keys |")
    for menu in MENUS:
        rows = [
            f"| {short_title(command.id)} | {_code_in_table(shortcut)} |"
            for command in COMMANDS
            if command.menu == menu and (shortcut := keymap.text(command.id))
        ]
        if rows:
            parts.append(f"## {translate_title(menu)}\n\n{header}\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _code_in_table(text: str) -> str:
    """Return `text` as code in a Markdown table; a shortcut may contain a backtick or a vertical bar."""
    code = f"`` {text} ``" if "`" in text else f"`{text}`"
    return code.replace("|", "\\|")


def about_page() -> str:
    """Return the page with the version, the license and the notices of included third-party software."""
    parts = (
        "# Scriptorium",
        translate("HelpPages", "Version {0}. MIT license.").format(__version__),
        translate(
            "HelpPages",
            "A desktop app for a folder of Markdown notes. Nothing leaves this computer unless you allow "
            "it. Changes by agents need your approval, unless a rule allows them.",
        ),
        translate("HelpPages", "## Semantic search model"),
        _model_notice(),
        translate("HelpPages", "## Icons"),
        translate(
            "HelpPages",
            "Phosphor Icons 1.3 (phosphoricons.com), MIT license, from the font in QtAwesome, MIT license.",
        ),
        "## Qt",
        translate(
            "HelpPages",
            "Qt and PySide6 are used under the LGPL 3; they are separate libraries that you may replace.",
        ),
        *_license_section(),
    )
    return "\n\n".join(parts) + "\n"


def _license_section() -> tuple[str, ...]:
    """Return a section with the path of the license texts; nothing if there are none, as in a checkout."""
    file = paths.resources_folder() / "licenses" / "THIRD-PARTY-NOTICES.txt"
    if not file.is_file():
        return ()
    text = translate("HelpPages", "All licenses, and how to replace Qt: {0}").format(file)
    return (translate("HelpPages", "## Third-party software"), text)


def _model_notice() -> str:
    """Return the included model's notice about its origin, or a message if the model is not included."""
    file = paths.resources_folder() / "models" / _MODEL / "NOTICE"
    try:
        notice = file.read_text("utf-8").partition("\n---")[0].strip()
        return "\n\n".join(" ".join(part.split()) for part in notice.split("\n\n"))
    except OSError:
        return translate("HelpPages", "{0}: not included in this installation.").format(_MODEL)
