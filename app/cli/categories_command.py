"""List the tool categories, and turn them on or off in a vault.

A category that the permission settings or the vault's rules turn off stays off.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from app import paths
from app.cli import rendering
from app.cli.console import CliConsole, escape_controls
from app.cli.exit_status import ExitStatus
from app.cli.invoke import resolve_vault
from app.cli.options import Options, add_call_options
from app.cli.owner import confirm, open_owned
from app.cli.vault_location import locate_vault
from app.errors import InvalidParametersError, VaultLostError
from app.settings import VaultSettings, load_settings, load_vault_rules, load_vault_settings
from app.toolkit.plugins import load_plugins
from app.toolkit.registry import ToolCatalog, ToolRegistry
from app.tools import CATALOG, CATEGORIES, FILE_TOOL

_SETTINGS_PAGE = "Settings, Tools"


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """A row of the list; `state` is on, off, or off by a rule."""

    category: str
    state: str
    level: str
    tools: int
    name: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the operation and the categories."""
    help_text = "list (the default), on or off"
    parser.add_argument("op", nargs="?", choices=("list", "on", "off"), default="list", help=help_text)
    parser.add_argument("ids", nargs="*", metavar="category", help="the categories to turn on or off")
    add_call_options(parser)


async def run(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    """List the categories, or turn some on or off."""
    options = Options.from_namespace(args)
    if (args.op == "list") == bool(args.ids):
        raise InvalidParametersError(
            f"categories {args.op} {'takes no' if args.ids else 'needs a'} category.", op=args.op
        )
    if args.op == "list":
        root = resolve_vault(options, console).root
        registry = await asyncio.to_thread(load_registry, root, console)
        _show(category_rows(registry, categories_off_by_rule(root)), options, console)
        return ExitStatus.DONE
    return await _switch(args.ids, options, console, on=args.op == "on")


async def _switch(ids: list[str], options: Options, console: CliConsole, *, on: bool) -> ExitStatus:
    root = resolve_vault(options, console).root
    async with open_owned(root, console, _SETTINGS_PAGE) as vault:
        for category_id in ids:
            vault.tools.category(category_id)  # Raises `NotFoundError` if there is none.
        word = "on" if on else "off"
        question = f"Turn {word} these tool categories for agents in {root.name}: {', '.join(ids)}."
        await confirm(question, options, console)
        current = vault.settings.of_vault
        vault.settings.change_vault(current.with_categories(on, *ids))
        rows = category_rows(vault.tools, vault.tools.categories_off)
    _show([row for row in rows if row.category in ids], options, console)
    return ExitStatus.DONE


def load_registry(root: Path | None, console: CliConsole) -> ToolRegistry:
    """Return a registry of all installed tools.

    Its categories are on or off as in the vault at `root`, or by default if that is None. Prints any problems
    with plug-ins and the vault's settings.
    """
    registry = ToolRegistry(CATEGORIES, (*CATALOG, FILE_TOOL))
    settings = load_settings()
    for problem in load_plugins(registry, enabled=settings.tools.plugins_on):
        console.print_message(problem)
    vault_settings = VaultSettings()
    if root is not None:
        vault_settings, problem = load_vault_settings(paths.data_folder() / "vaults" / paths.vault_id(root))
        if problem:
            console.print_message(escape_controls(problem))
    off = categories_off_by_rule(root)
    for category in registry.categories:
        by_default = any(
            default_category.id == category.id and default_category.on for default_category in CATEGORIES
        )
        on = vault_settings.is_category_on(category.id, settings.permissions, by_default=by_default)
        registry.set_category(category.id, on and category.id not in off)
    return registry


def load_chosen_registry(folder: str | None, console: CliConsole) -> ToolRegistry:
    """Return the registry of the vault to use, or the default one if no vault is found.

    Raises:
        VaultLostError: `folder` is given and does not exist.
    """
    try:
        return load_registry(locate_vault(folder).root, console)
    except VaultLostError:
        if folder is not None:
            raise
        return load_registry(None, console)


def categories_off_by_rule(root: Path | None) -> frozenset[str]:
    """Return the categories that permissions or the vault's rules turn off."""
    off = load_settings().permissions.categories_off
    return off | frozenset(load_vault_rules(root).categories_off) if root is not None else off


def category_rows(tools: ToolCatalog, off: frozenset[str]) -> list[CategoryRow]:
    """Return the categories as rows, in order."""
    rows = []
    for category in tools.categories:
        state = "off by a rule" if category.id in off else "on" if category.on else "off"
        count = sum(tool.category == category.id for tool in tools.all_tools())
        rows.append(CategoryRow(category.id, state, category.level.value, count, category.name))
    return rows


def _show(rows: list[CategoryRow], options: Options, console: CliConsole) -> None:
    data = [asdict(row) for row in rows]
    if options.json:
        console.print_text(json.dumps(data, ensure_ascii=False) + "\n")
    else:
        rendering.print_rows(console, data)
