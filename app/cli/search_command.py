"""Search notes with a query in the search language, or search the memory or the conversations.

Words are joined: `scriptorium search tag:core chronometer`. Quote characters that are special in the shell,
and put -- before a query that begins with a minus.
"""

from __future__ import annotations

import argparse

from app.cli.console import CliConsole
from app.cli.exit_status import ExitStatus
from app.cli.highlighting import search_terms
from app.cli.invoke import run_call
from app.cli.options import Options, add_call_options
from app.cli.tool_command import find_tool

_DOMAINS = next(p.choices for p in find_tool("search").parameters if p.name == "domain")  # type: ignore[union-attr]
_NOTE_CHOICES = {p.name: p.choices for p in find_tool("search_notes").parameters}  # type: ignore[union-attr]
_VAULT = "vault"
_DEFAULT_LIMIT = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the query and the options of a search."""
    parser.add_argument("query", nargs="+", help="the query")
    parser.add_argument(
        "--limit", type=int, default=_DEFAULT_LIMIT, help=f"maximum number of results ({_DEFAULT_LIMIT})"
    )
    parser.add_argument("--offset", type=int, default=0, help="number of notes to skip")
    parser.add_argument("--order", choices=_NOTE_CHOICES["order"], help="order of notes (relevance)")
    parser.add_argument("--group", choices=_NOTE_CHOICES["group"], help="grouping of notes (none)")
    parser.add_argument("--domain", choices=_DOMAINS, default=_VAULT, help="where to search (vault)")
    add_call_options(parser)


async def run(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    """Search, and show the results with their matching lines."""
    query = " ".join(args.query)
    options = Options.from_namespace(args)
    if args.domain != _VAULT:
        arguments = {"query": query, "limit": args.limit, "domain": args.domain}
        return await run_call("search", arguments, options, console, search_terms(query))
    arguments = {"query": query, "limit": args.limit, "offset": args.offset}
    arguments |= {name: value for name in ("order", "group") if (value := getattr(args, name)) is not None}
    return await run_call("search_notes", arguments, options, console, search_terms(query))
