"""Shell completion scripts, generated from the parsers of all verbs and tools."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import shtab

from app.cli import commands
from app.cli.options import RESERVED_OPTIONS, add_call_options
from app.cli.tool_parser import OP, ToolOption, ToolParser
from app.toolkit.argument_types import ArgumentKind
from app.tools import CATALOG, FILE_TOOL

_PROGRAM = "scriptorium"
_PREAMBLE = {
    "bash": """_scriptorium_notes() {
  scriptorium completion bash --notes="$1" --line "${COMP_WORDS[@]:1}" 2>/dev/null
}""",
    "zsh": """_scriptorium_notes() {
  local -a names
  names=("${(@f)$(scriptorium completion zsh --notes="${(Q)PREFIX}" --line "${(@)words[2,-1]}" 2>/dev/null)}")
  compadd -a names
}""",
}
_NOTES = {
    "bash": "_scriptorium_notes",
    "zsh": "_scriptorium_notes",
    "fish": (
        "(scriptorium completion fish --notes=(commandline -ct) --line (commandline -opc)[2..] 2>/dev/null)"
    ),
}


def completion_script(shell: str) -> str:
    """Return the script for bash, zsh or fish."""
    return shtab.complete(full_parser(), shell, preamble=_PREAMBLE.get(shell, ""))


def full_parser() -> argparse.ArgumentParser:
    """Return one parser for all verbs and tools, from which shtab generates the scripts."""
    parser = argparse.ArgumentParser(prog=_PROGRAM, allow_abbrev=False)
    add_call_options(parser)
    subparsers = parser.add_subparsers(metavar="command")
    _add_folder(subparsers.add_parser("open", help="open a folder in the window"))
    for name, (_, summary) in commands.VERBS.items():
        commands.load_verb(name).add_arguments(subparsers.add_parser(name, help=summary))
    used_names = set(subparsers.choices)
    for tool in (*CATALOG, FILE_TOOL):
        if tool.name not in used_names:
            _add_tool(subparsers.add_parser(tool.name, help=tool.summary), ToolParser.from_tool(tool))
    _complete_values(parser)
    return parser


def _add_folder(parser: argparse.ArgumentParser) -> None:
    folder = parser.add_argument("folder", nargs="?", help="the vault's folder")
    folder.complete = shtab.DIRECTORY  # type: ignore[attr-defined]


def _add_tool(parser: argparse.ArgumentParser, tool_parser: ToolParser) -> None:
    """Add a tool's options (spelled with dashes), operations and positional arguments."""
    for flag in tool_parser.flags:
        if flag.name == OP:
            leading = tool_parser.positionals[: tool_parser.positionals.index(flag)]
            for positional in leading:
                _offer_notes(
                    positional, parser.add_argument(f"word_{positional.name}", metavar=positional.metavar)
                )
            parser.add_argument(OP, choices=flag.choices)
        elif flag.option not in RESERVED_OPTIONS:
            choices = flag.choices or None
            if flag.is_switch:
                parser.add_argument(flag.option, action="store_true")
            else:
                metavar = None if choices else flag.metavar
                _offer_notes(flag, parser.add_argument(flag.option, choices=choices, metavar=metavar))
    if not tool_parser.operations:
        for positional in tool_parser.positionals:
            _offer_notes(
                positional, parser.add_argument(f"word_{positional.name}", metavar=positional.metavar)
            )
    add_call_options(parser)


def _offer_notes(flag: ToolOption, action: argparse.Action) -> None:
    """Let the shell request note names if the argument is a note."""
    if flag.kind is ArgumentKind.NOTE:
        action.complete = _NOTES  # type: ignore[attr-defined]


def _complete_values(parser: argparse.ArgumentParser) -> None:
    """Complete folder names for vaults, and file names for output files."""
    for subparser in _iter_parsers(parser):
        for action in subparser._actions:  # noqa: SLF001
            if "--vault" in action.option_strings or action.dest == "folder":
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            elif action.dest in ("file", "places"):
                action.complete = shtab.FILE  # type: ignore[attr-defined]


def _iter_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its subcommands."""
    yield parser
    for subparser in _subparsers(parser):
        yield from _iter_parsers(subparser)


def _subparsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            yield from action.choices.values()
