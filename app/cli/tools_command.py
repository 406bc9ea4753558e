"""List the tools, show all about one, print their schemas, or try every one on a copy of the sample vault."""

from __future__ import annotations

import argparse
import json

from app.cli import tools_check
from app.cli.categories_command import registry_of_chosen
from app.cli.options import Options, add_json_option, add_vault_option
from app.cli.screen import Screen
from app.toolkit.documentation import catalogue_page, tool_page
from app.toolkit.tool import Tool


def add_to(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take a tool's name."""
    parser.add_argument("name", nargs="?", help="a tool")
    parser.add_argument("--check", action="store_true", help="try every tool on a copy of the sample vault")
    add_vault_option(parser)
    add_json_option(parser)


def run(given: argparse.Namespace, screen: Screen) -> int:
    """Print what was asked for; the exit status is that of the check, else 0."""
    if given.check:
        return tools_check.run()
    name = given.name.replace("-", "_") if given.name else None
    registry = registry_of_chosen(Options.of(given).vault, screen)
    if Options.of(given).json:
        tools = [registry.get(name)] if name else registry.all()
        screen.text(json.dumps([_as_data(tool) for tool in tools], indent=2, ensure_ascii=False) + "\n")
    elif name:
        tool = registry.get(name)
        screen.text(tool_page(tool, registry.category(tool.category)))
    else:
        screen.text(catalogue_page(registry))
    return 0


def _as_data(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "category": tool.category,
        "description": tool.description,
        "input_schema": tool.schema,
        "output_schema": tool.output_schema,
    }
