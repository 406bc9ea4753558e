"""`scriptorium <tool> …`: any tool as a command."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.cli import approval_kinds, exit_status
from app.cli.argument_parsing import TextArguments
from app.cli.console import CliConsole
from app.cli.exit_status import ExitStatus
from app.cli.highlighting import search_terms
from app.cli.invoke import approver_for, call_tool, report_outcome, resolve_vault, run_call
from app.cli.options import RESERVED_OPTIONS, Options, add_call_options
from app.cli.session import open_session
from app.cli.tool_parser import ToolParser
from app.errors import InvalidParametersError
from app.toolkit.call_results import validate_arguments
from app.toolkit.tool import Tool
from app.tools import CATALOG, FILE_TOOL

if TYPE_CHECKING:
    from app.workspace import VaultService

_EXTERNAL_TIMEOUT_S = 20.0
_SEARCH_TOOLS = frozenset({"search_notes", "search"})


def find_tool(word: str) -> Tool | None:
    """Return the built-in tool with this name, written with dashes or underscores; None if there is none."""
    name = word.replace("-", "_")
    return next((tool for tool in (*CATALOG, FILE_TOOL) if tool.name == name), None)


async def run(
    word: str, words: Sequence[str], leading: argparse.Namespace, console: CliConsole
) -> ExitStatus:
    """Call the tool `word` with the arguments in `words`.

    Args:
        word: The tool's name.
        words: The words after it.
        leading: The options before it.
        console: The output.

    Raises:
        ScriptoriumError: The arguments are invalid, or there is no such tool or vault.
    """
    tool = find_tool(word)
    if tool is None:
        return await _run_unknown(word, words, leading, console)
    arguments, options = parse_call(ToolParser.from_tool(tool), words, leading)
    tool.check_operation(validate_arguments(tool, arguments))
    terms = search_terms(str(arguments["query"])) if tool.name in _SEARCH_TOOLS else ()
    return await run_call(tool.name, arguments, options, console, terms)


async def _run_unknown(
    word: str, words: Sequence[str], leading: argparse.Namespace, console: CliConsole
) -> ExitStatus:
    """Call a tool that only the open vault knows: a plug-in's, or another program's."""
    name = word.replace("-", "_")
    parsed = _leading_parser().parse_known_args(list(words), argparse.Namespace(**vars(leading)))[0]
    options = Options.from_namespace(parsed)
    location = resolve_vault(options, console)
    approver = approver_for(options, console)
    async with open_session(
        location.root, approver, console, brief=False, enable_tools=options.enable_tools
    ) as session:
        if session.vault is not None:
            await _await_external(session.vault)
        entries = await session.access.tools(session.client)
        entry = next((entry for entry in entries if entry.name in (word, name)), None)
        if entry is None:
            raise unknown_command_error(word, [entry.name for entry in entries])
        arguments, options = parse_call(ToolParser.from_descriptor(entry), words, leading)
        outcome = await call_tool(session, entry.name, arguments, options, console)
    return report_outcome(outcome, options, console)


async def _await_external(vault: VaultService) -> None:
    """Wait until the external programs in the settings have started or failed, for 20 s at most."""
    from app.external.connection import ConnectionState
    from app.external.states import ExternalChanged

    changed = asyncio.Event()
    unsubscribe = vault.events.subscribe(ExternalChanged, lambda event: changed.set())
    try:
        async with asyncio.timeout(_EXTERNAL_TIMEOUT_S):
            while any(
                state.connection_state is ConnectionState.STARTING for state in vault.external.states()
            ):
                await changed.wait()
                changed.clear()
    except TimeoutError:
        pass  # Tools that are registered by now can be called.
    finally:
        unsubscribe()


def unknown_command_error(word: str, names: Sequence[str]) -> InvalidParametersError:
    """Return the error for a word that is neither a verb nor a tool."""
    from rapidfuzz import process

    suggestions = [match[0] for match in process.extract(word, list(names), limit=3, score_cutoff=60)]
    hint = f" Did you mean {' or '.join(suggestions)}?" if suggestions else ""
    return InvalidParametersError(
        f"There is no verb, tool or folder named {word!r}.{hint} `scriptorium tools` lists the tools.",
        suggestions=suggestions,
    )


def parse_call(
    tool_parser: ToolParser, words: Sequence[str], leading: argparse.Namespace
) -> tuple[dict[str, object], Options]:
    """Return the arguments and the options of a call.

    Raises:
        InvalidParametersError: An argument or an option has an invalid value, or there are too many words.
        SystemExit: An option is unknown or incomplete, or the user asked for help.
    """
    args = build_tool_parser(tool_parser).parse_intermixed_args(
        list(words), argparse.Namespace(**vars(leading))
    )
    return tool_parser.read(args, TextArguments()), Options.from_namespace(args)


def build_tool_parser(tool_parser: ToolParser) -> argparse.ArgumentParser:
    """Return the parser for a tool's command, with its help."""
    prog = "scriptorium"
    usage = f"\n       {prog} ".join(tool_parser.usage())
    parser = argparse.ArgumentParser(
        prog=f"{prog} {tool_parser.name}",
        usage=f"{prog} {usage}",
        description=tool_parser.description,
        epilog=help_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    tool_parser.add_arguments(parser, RESERVED_OPTIONS)
    add_call_options(parser)
    return parser


def help_epilog() -> str:
    """Return the text at the end of every tool's help."""
    return (
        "Long texts: - reads standard input, @file reads a file (@@ starts a text with an @).\n"
        "Like other programs outside the window, commands can't see notes with `ai: private`.\n\n"
        f"--approve names kinds of change to approve in advance:\n{approval_kinds.help_table()}\n\n"
        f"Exit status:\n{exit_status.help_table()}"
    )


def _leading_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_call_options(parser)
    return parser
