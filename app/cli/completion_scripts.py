"""The completion scripts for the shells, generated from the parsers of all verbs and tools."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import shtab

from app.cli import commands
from app.cli.options import SPELLINGS, add_call_options
from app.cli.tool_parser import OP, ToolOption, ToolParser
from app.toolkit.argument_types import ArgumentKind
from app.tools import CATALOG, FILE_TOOL

_PROGRAM = "scriptorium"
_NOTES = "_scriptorium_notes"
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
_FISH_NOTES = (
    "(scriptorium completion fish --notes=(commandline -ct) --line (commandline -opc)[2..] 2>/dev/null)"
)


def completion_script(shell: str) -> str:
    """Return the script for bash, zsh or fish."""
    parser = full_parser()
    return _fish(parser) if shell == "fish" else shtab.complete(parser, shell, preamble=_PREAMBLE[shell])


def full_parser() -> argparse.ArgumentParser:
    """Return one parser of every command, the input of the generators."""
    parser = argparse.ArgumentParser(prog=_PROGRAM, allow_abbrev=False)
    add_call_options(parser)
    words = parser.add_subparsers(metavar="command")
    _with_folder(words.add_parser("open", help="open the window on a folder"))
    for name, (_, summary) in commands.VERBS.items():
        commands.load_verb(name).add_arguments(words.add_parser(name, help=summary))
    taken = set(words.choices)
    for tool in (*CATALOG, FILE_TOOL):
        if tool.name not in taken:
            _add_tool(words.add_parser(tool.name, help=tool.summary), ToolParser.from_tool(tool))
    _complete_values(parser)
    return parser


def _with_folder(parser: argparse.ArgumentParser) -> None:
    folder = parser.add_argument("folder", nargs="?", help="the vault's folder")
    folder.complete = shtab.DIRECTORY  # type: ignore[attr-defined]


def _add_tool(parser: argparse.ArgumentParser, signature: ToolParser) -> None:
    """Add the flags of a tool, with dashes, and its operations as words."""
    for flag in signature.flags:
        if flag.name == OP:
            before = signature.positionals[: signature.positionals.index(flag)]
            for place in before:
                _offer_notes(place, parser.add_argument(f"word_{place.name}", metavar=place.word))
            parser.add_argument(OP, choices=flag.choices)
        elif flag.option not in SPELLINGS:
            choices = flag.choices or None
            if flag.is_switch:
                parser.add_argument(flag.option, action="store_true")
            else:
                word = None if choices else flag.word
                _offer_notes(flag, parser.add_argument(flag.option, choices=choices, metavar=word))
    if not signature.operations:
        for place in signature.positionals:
            _offer_notes(place, parser.add_argument(f"word_{place.name}", metavar=place.word))
    add_call_options(parser)


def _offer_notes(flag: ToolOption, action: argparse.Action) -> None:
    """Let the shell request names if the argument is a note."""
    if flag.kind is ArgumentKind.NOTE:
        action.complete = {"bash": _NOTES, "zsh": _NOTES}  # type: ignore[attr-defined]


def _complete_values(parser: argparse.ArgumentParser) -> None:
    """Complete folders after --vault, and files where files are expected."""
    for one in _iter_parsers(parser):
        for action in one._actions:
            if "--vault" in action.option_strings or action.dest == "folder":
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            elif action.dest in ("file", "places"):
                action.complete = shtab.FILE  # type: ignore[attr-defined]


def _iter_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its subcommands."""
    yield parser
    for name, sub in _commands(parser):
        del name
        yield from _iter_parsers(sub)


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _fish(parser: argparse.ArgumentParser) -> str:
    """Return the script for fish, which shtab does not support."""
    lines = [f"complete -c {_PROGRAM} -f"]
    lines += _fish_lines(parser, "__fish_use_subcommand")
    return "\n".join(lines) + "\n"


def _fish_lines(parser: argparse.ArgumentParser, condition: str) -> Iterator[str]:
    head = f"complete -c {_PROGRAM} -n '{condition}'"
    helps = {
        each.dest: each.help
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for each in action._choices_actions
    }
    for action in parser._actions:
        if action.help == argparse.SUPPRESS:
            continue
        longs = [one[2:] for one in action.option_strings if one.startswith("--") and "_" not in one]
        words = _fish_words(action)
        for name in longs:
            yield f"{head} -l {name}{words} -d {_quoted(action.help or '')}"
        if not action.option_strings and action.choices and not isinstance(action.choices, dict):
            yield f"{head} -a {_quoted(' '.join(map(str, action.choices)))}"
        if not action.option_strings and getattr(action, "complete", None):
            yield f"{head}{_fish_completed(action)}"
    for name, sub in _commands(parser):
        yield f"{head} -a {name} -d {_quoted(helps.get(name) or '')}"
        yield from _fish_lines(sub, f"__fish_seen_subcommand_from {name}")


def _fish_words(action: argparse.Action) -> str:
    """Return the completion of an option's value."""
    if action.nargs == 0:
        return ""
    if action.choices:
        return f" -x -a {_quoted(' '.join(map(str, action.choices)))}"
    return f" -r{_fish_completed(action)}" if getattr(action, "complete", None) else " -x"


def _fish_completed(action: argparse.Action) -> str:
    """Return the source of an argument's words: notes or files."""
    notes = isinstance(getattr(action, "complete", None), dict) and _NOTES in action.complete.values()  # type: ignore[attr-defined]
    return f" -f -a {_quoted(_FISH_NOTES)}" if notes else " -F"


def _quoted(text: str) -> str:
    line = " ".join(text.split()).replace("%%", "%")
    return "'" + line.replace("\\", "\\\\").replace("'", "\\'") + "'"
