"""`scriptorium tools`: the catalogue, the page of one tool, its schema, and the check of them all."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from app.cli import tools_check
from app.toolkit.documentation import catalogue_page, tool_page
from app.toolkit.plugins import load_plugins
from app.toolkit.registry import ToolRegistry
from app.toolkit.tool import Tool
from app.tools import CATALOG, CATEGORIES, FILE_TOOL


def add_parser(verbs: Any) -> None:  # noqa: ANN401 (argparse's type for subparsers is private)
    """Add the verb to the command line."""
    parser = verbs.add_parser("tools", help="list the tools, or show all about one")
    parser.add_argument("name", nargs="?", help="a tool")
    parser.add_argument("--json", action="store_true", help="the schemas, for programs")
    parser.add_argument("--check", action="store_true", help="try every tool on a copy of the sample vault")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Print what was asked for; the exit status is that of the check, else 0."""
    if given.check:
        return tools_check.run()
    registry = ToolRegistry(CATEGORIES, (*CATALOG, FILE_TOOL))
    for problem in load_plugins(registry).problems:
        print(problem, file=sys.stderr)
    if given.json:
        tools = [registry.get(given.name)] if given.name else registry.all()
        print(json.dumps([_as_data(tool) for tool in tools], indent=2, ensure_ascii=False))
    elif given.name:
        tool = registry.get(given.name)
        print(tool_page(tool, registry.category(tool.category)), end="")
    else:
        print(catalogue_page(registry), end="")
    return 0


def _as_data(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "category": tool.category,
        "description": tool.description,
        "input_schema": tool.schema,
        "output_schema": tool.output_schema,
    }
