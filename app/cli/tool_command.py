"""`scriptorium <tool> …`: any tool as a command."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.cli import exit_status, kinds
from app.cli.calls import approver_for, call, chosen, report, run_call
from app.cli.exit_status import Exit
from app.cli.marks import words_of
from app.cli.options import SPELLINGS, Options, add_call_options
from app.cli.screen import Screen
from app.cli.session import open_session
from app.cli.signature import Signature
from app.cli.values import Texts
from app.errors import InvalidParametersError
from app.toolkit.answers import validated
from app.toolkit.tool import Tool
from app.tools import CATALOG, FILE_TOOL

if TYPE_CHECKING:
    from app.workspace import Workspace

_PATIENCE_S = 20.0
_SEARCHES = frozenset({"search_notes", "search"})


def known_tool(word: str) -> Tool | None:
    """The shipped tool of that name, with dashes or underscores; None where there is none."""
    name = word.replace("-", "_")
    return next((tool for tool in (*CATALOG, FILE_TOOL) if tool.name == name), None)


async def run(word: str, words: Sequence[str], leading: argparse.Namespace, screen: Screen) -> Exit:
    """Call the tool `word` with what `words` say.

    Args:
        word: The tool's name.
        words: What follows it.
        leading: Options that stand before it.
        screen: Where it is shown.

    Raises:
        ScriptoriumError: it can't be called so, or there is no such tool or vault.
    """
    tool = known_tool(word)
    if tool is None:
        return await _run_unknown(word, words, leading, screen)
    arguments, options = read_call(Signature.of_tool(tool), words, leading)
    tool.check_operation(validated(tool, arguments))
    marks = words_of(str(arguments["query"])) if tool.name in _SEARCHES else ()
    return await run_call(tool.name, arguments, options, screen, marks)


async def _run_unknown(word: str, words: Sequence[str], leading: argparse.Namespace, screen: Screen) -> Exit:
    """Call a tool that only the open vault knows: a plug-in's, or another program's."""
    name = word.replace("-", "_")
    asked = _leading_parser().parse_known_args(list(words), argparse.Namespace(**vars(leading)))[0]
    options = Options.of(asked)
    choice = chosen(options, screen)
    approver = approver_for(options, screen)
    async with open_session(
        choice.root, approver, screen, brief=False, enable_tools=options.enable_tools
    ) as session:
        if session.workspace is not None:
            await _await_external(session.workspace)
        entries = await session.served.tools(session.client)
        entry = next((one for one in entries if one.name in (word, name)), None)
        if entry is None:
            raise unknown(word, [one.name for one in entries])
        arguments, options = read_call(Signature.of_entry(entry), words, leading)
        outcome = await call(session, entry.name, arguments, options, screen)
    return report(outcome, options, screen)


async def _await_external(workspace: Workspace) -> None:
    """Wait until the programs of others that the settings name have said what they offer, or failed to."""
    from app.external.connection import Standing
    from app.external.states import ExternalChanged

    changed = asyncio.Event()
    stop = workspace.events.subscribe(ExternalChanged, lambda event: changed.set())
    try:
        async with asyncio.timeout(_PATIENCE_S):
            while any(one.standing is Standing.STARTING for one in workspace.external.states()):
                await changed.wait()
                changed.clear()
    except TimeoutError:
        pass  # What is there by now can be called.
    finally:
        stop()


def unknown(word: str, names: Sequence[str]) -> InvalidParametersError:
    """The error for a word that is neither a verb nor a tool."""
    from rapidfuzz import process

    near = [match[0] for match in process.extract(word, list(names), limit=3, score_cutoff=60)]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return InvalidParametersError(
        f"There is no verb, tool or folder called {word!r}.{hint} `scriptorium tools` lists the tools.",
        suggestions=near,
    )


def read_call(
    signature: Signature, words: Sequence[str], leading: argparse.Namespace
) -> tuple[dict[str, object], Options]:
    """The arguments and the options of a call.

    Raises:
        InvalidParametersError: a value is no such thing.
        SystemExit: a flag is none of the tool's, or help was asked for.
    """
    given = parser_of(signature).parse_intermixed_args(list(words), argparse.Namespace(**vars(leading)))
    return signature.read(given, Texts()), Options.of(given)


def parser_of(signature: Signature) -> argparse.ArgumentParser:
    """The parser of a tool's command, with its help."""
    prog = "scriptorium"
    usage = f"\n       {prog} ".join(signature.usage())
    parser = argparse.ArgumentParser(
        prog=f"{prog} {signature.name}",
        usage=f"{prog} {usage}",
        description=signature.description,
        epilog=help_end(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    signature.add_to(parser, SPELLINGS)
    add_call_options(parser)
    return parser


def help_end() -> str:
    """What the help of every call ends with."""
    return (
        "Long texts: - is standard input, @file the text of a file (@@ begins a text with an @).\n"
        "Notes with `ai: private` are not seen by commands, as by every program outside the window.\n\n"
        f"--approve names kinds of change that need no answer:\n{kinds.table()}\n\n"
        f"Exit status:\n{exit_status.table()}"
    )


def _leading_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_call_options(parser)
    return parser
