"""List the tools, describe one or print their schemas; in a source checkout, test every tool."""

from __future__ import annotations

import argparse
import importlib
import json
import sys

from app.cli.categories_command import load_chosen_registry
from app.cli.console import CliConsole
from app.cli.options import Options, add_json_option, add_vault_option
from app.errors import NotFoundError
from app.paths import resources_folder
from app.toolkit.documentation import catalog_page, tool_page
from app.toolkit.tool import Tool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the tool's name and the options."""
    parser.add_argument("name", nargs="?", help="the name of a tool")
    parser.add_argument("--check", action="store_true", help="test every tool; needs a source checkout")
    add_vault_option(parser)
    add_json_option(parser)


def run(args: argparse.Namespace, console: CliConsole) -> int:
    """Print the requested information; the exit status is that of the check, else 0."""
    if args.check:
        return _check()
    name = args.name.replace("-", "_") if args.name else None
    registry = load_chosen_registry(Options.from_namespace(args).vault, console)
    if Options.from_namespace(args).json:
        tools = [registry.get(name)] if name else registry.all_tools()
        console.print_text(
            json.dumps([_tool_as_json(tool) for tool in tools], indent=2, ensure_ascii=False) + "\n"
        )
    elif name:
        tool = registry.get(name)
        console.print_text(tool_page(tool, registry.category(tool.category)))
    else:
        console.print_text(catalog_page(registry))
    return 0


def _check() -> int:
    """Run the smoke test and return its exit status.

    Raises:
        NotFoundError: The app does not run from a checkout.
    """
    checkout = resources_folder().parent
    if not (checkout / "tests" / "smoke").is_dir():
        raise NotFoundError("`tools --check` needs a source checkout: it runs the calls in tests/smoke.")
    sys.path.insert(0, str(checkout))
    return int(importlib.import_module("tests.smoke.check_tools").run())


def _tool_as_json(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "category": tool.category,
        "description": tool.description,
        "input_schema": tool.schema,
        "output_schema": tool.output_schema,
    }
