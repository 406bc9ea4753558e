"""Search notes in the search language, or the memory and the conversations.

Words are joined: `scriptorium search tag:core chronometer`. Quote what the shell would take apart, and put --
before a query that begins with a minus.
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
_OF_NOTES = {p.name: p.choices for p in find_tool("search_notes").parameters}  # type: ignore[union-attr]
_VAULT = "vault"
_DEFAULT_LIMIT = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take what a search takes."""
    parser.add_argument("query", nargs="+", help="what is looked for")
    parser.add_argument(
        "--limit", type=int, default=_DEFAULT_LIMIT, help=f"how many results at most ({_DEFAULT_LIMIT})"
    )
    parser.add_argument("--offset", type=int, default=0, help="how many results to pass over, of notes")
    parser.add_argument("--order", choices=_OF_NOTES["order"], help="of notes (relevance)")
    parser.add_argument("--group", choices=_OF_NOTES["group"], help="of notes (none)")
    parser.add_argument("--domain", choices=_DOMAINS, default=_VAULT, help="where (vault)")
    add_call_options(parser)


async def run(given: argparse.Namespace, screen: CliConsole) -> ExitStatus:
    """Search, and show what was found with its lines."""
    query = " ".join(given.query)
    options = Options.from_namespace(given)
    if given.domain != _VAULT:
        arguments = {"query": query, "limit": given.limit, "domain": given.domain}
        return await run_call("search", arguments, options, screen, search_terms(query))
    arguments = {"query": query, "limit": given.limit, "offset": given.offset}
    arguments |= {name: value for name in ("order", "group") if (value := getattr(given, name)) is not None}
    return await run_call("search_notes", arguments, options, screen, search_terms(query))
