"""The entry point of the command line: find the verb or the tool, run it, report errors."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import inspect
import json
import logging
import os
import sys
from collections.abc import Awaitable
from contextlib import suppress
from typing import Protocol

from app import __version__
from app.cli import exit_status
from app.cli.console import CliConsole, escape_controls, use_utf8
from app.cli.exit_status import ExitStatus
from app.cli.options import add_call_options
from app.errors import ScriptoriumError
from app.log_file import log_to_file

VERBS = {
    "ask": ("ask_command", "ask the built-in agent in everyday language"),
    "audit": ("audit_command", "verify, show or export the audit log"),
    "categories": ("categories_command", "list the tool categories, and turn them on or off"),
    "completion": ("completion_command", "print the completion script for bash, zsh or fish"),
    "doctor": ("doctor_command", "check the installation and the vault, and suggest fixes"),
    "graph": ("graph_command", "export the graph as SVG, PNG, GraphML or JSON"),
    "index": ("index_command", "update the index of a vault and print its counts"),
    "mcp": ("mcp_command", "serve a vault to an MCP client over standard input and output"),
    "pending": ("pending_command", "list, inspect or cancel calls that wait for approval"),
    "search": ("search_command", "search notes, the memory or the conversations"),
    "sources": ("sources_command", "list, add, remove, pause and resume folders and streams"),
    "tokens": ("tokens_command", "list, create, renew and revoke tokens for other programs"),
    "tools": ("tools_command", "list the tools, or describe one"),
    "undo": ("undo_command", "undo the last change, or a call or turn in the audit log"),
}
_MAX_LOG_BYTES = 1_000_000


class Verb(Protocol):
    """The interface of a verb's module."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's arguments to `parser`."""
        ...

    def run(self, args: argparse.Namespace, console: CliConsole) -> int | Awaitable[int]:
        """Run the verb and return the exit status.

        Raises:
            ScriptoriumError: The verb failed; `main` prints the message.
        """
        ...


def main(arguments: list[str]) -> int:
    """Run a verb or a tool and return the exit status; see `exit_status`."""
    use_utf8()
    # The terminal shows only messages for the user.
    log_to_file("command-line.log", logging.NullHandler(), max_bytes=_MAX_LOG_BYTES, backups=1)
    console = CliConsole()
    try:
        args = build_leading_parser().parse_args(arguments)
        return int(_run(args, console))
    except ScriptoriumError as error:
        return _fail(error, console, as_json="--json" in arguments)
    except KeyboardInterrupt:
        console.print_message("\nInterrupted.")
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe, which the interpreter would report again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.BROKEN_PIPE
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else ExitStatus.MISUSE


def load_verb(name: str) -> Verb:
    """Import the module of a verb; other verbs are not loaded."""
    verb: Verb = importlib.import_module(f"app.cli.{VERBS[name][0]}")
    return verb


def build_verb_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of a verb, with its help."""
    module = load_verb(name)
    parser = argparse.ArgumentParser(
        prog=f"scriptorium {name}",
        description=inspect.getdoc(module),
        epilog=f"Exit status:\n{exit_status.help_table()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    return parser


def build_leading_parser() -> argparse.ArgumentParser:
    """Return the parser for the options before the verb or the tool."""
    verbs = "\n".join(f"  {name:<12} {summary}" for name, (_, summary) in VERBS.items())
    parser = argparse.ArgumentParser(
        prog="scriptorium",
        usage="scriptorium [folder]\n       scriptorium [options] VERB|TOOL ...",
        description="Without a verb or a tool, open a folder of notes in the window.",
        epilog=(
            f"Verbs:\n  {'open':<12} open a folder in the window\n{verbs}\n\n"
            'Each tool is a command, for example: scriptorium read_note "My note".\n'
            "`scriptorium tools` lists the tools, and `scriptorium TOOL --help` describes one.\n\n"
            f"Exit status:\n{exit_status.help_table()}"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"scriptorium {__version__}")
    add_call_options(parser)
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="...", help=argparse.SUPPRESS)
    return parser


def _run(args: argparse.Namespace, console: CliConsole) -> int:
    words: list[str] = args.words
    del args.words
    if not words:
        build_leading_parser().print_usage(console.err)
        return ExitStatus.MISUSE
    if words[0] in VERBS:
        arguments = build_verb_parser(words[0]).parse_args(words[1:], args)
        result = load_verb(words[0]).run(arguments, console)
        return asyncio.run(_await(result)) if not isinstance(result, int) else result
    from app.cli import tool_command

    return asyncio.run(tool_command.run(words[0], words[1:], args, console))


async def _await(work: Awaitable[int]) -> int:
    return await work


def _fail(error: ScriptoriumError, console: CliConsole, *, as_json: bool) -> ExitStatus:
    console.end_progress()
    if as_json:
        response = {"success": False, "error": error.as_dict()}
        with suppress(BrokenPipeError):
            console.out.write(json.dumps(response, ensure_ascii=False, default=str) + "\n")
            console.out.flush()
    else:
        console.print_message(f"scriptorium: {escape_controls(error.message)}")
    return exit_status.error_status(error)
