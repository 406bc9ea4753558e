"""Command-line options shared by verbs and tools."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass

from app.cli.approval_kinds import ApprovalKind, parse_kinds
from app.errors import InvalidParametersError

RESERVED_OPTIONS = (
    "--vault",
    "--json",
    "--approve",
    "--wait",
    "--no-wait",
    "--claim",
    "--enable-tools",
    "--help",
    "-h",
)
"""Option names that the arguments of tools can't use."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a command.

    Args:
        vault: The folder given by `--vault`.
        json: Print the result as one line of JSON.
        approve: The kinds of change to approve in advance.
        waits: Wait for the user's decision.
        claim: The caller's description of the change.
        enable_tools: The tool categories to turn on for this command.
    """

    vault: str | None = None
    json: bool = False
    approve: frozenset[ApprovalKind] = frozenset()
    waits: bool = True
    claim: str = ""
    enable_tools: tuple[str, ...] = ()

    @classmethod
    def from_namespace(cls, args: argparse.Namespace) -> Options:
        """Return the options in the parsed arguments.

        Raises:
            InvalidParametersError: `--approve` names an unknown kind, or is combined with `--no-wait`.
        """
        if getattr(args, "approve", ()) and not getattr(args, "wait", True):
            raise InvalidParametersError("--approve and --no-wait can't be combined.")
        return cls(
            getattr(args, "vault", None),
            getattr(args, "json", False),
            parse_kinds(getattr(args, "approve", ())),
            getattr(args, "wait", True),
            getattr(args, "claim", ""),
            parse_categories(getattr(args, "enable_tools", ())),
        )


def parse_categories(words: Iterable[str]) -> tuple[str, ...]:
    """Parse the values of `--enable-tools`, each a comma-separated list, without duplicates."""
    return tuple(dict.fromkeys(name.strip() for word in words for name in word.split(",") if name.strip()))


_VAULT_HELP = (
    "the vault (default: SCRIPTORIUM_VAULT, else the one that contains the working directory, "
    "else the last opened vault)"
)


def add_vault_option(parser: argparse.ArgumentParser) -> None:
    """Add `--vault` to `parser`."""
    parser.add_argument("--vault", metavar="FOLDER", default=argparse.SUPPRESS, help=_VAULT_HELP)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add `--json` to `parser`."""
    help_text = "print the result as one line of JSON"
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=help_text)


def add_enable_option(parser: argparse.ArgumentParser) -> None:
    """Add `--enable-tools` to `parser`."""
    parser.add_argument(
        "--enable-tools",
        metavar="CATEGORIES",
        action="append",
        default=argparse.SUPPRESS,
        help="tool categories to turn on for this command, for example development,web",
    )


def add_call_options(parser: argparse.ArgumentParser) -> None:
    """Add all options of a call to `parser`."""
    add_vault_option(parser)
    add_json_option(parser)
    parser.add_argument(
        "--approve",
        metavar="KINDS",
        action="append",
        default=argparse.SUPPRESS,
        help="kinds of change to approve, for example create,update",
    )
    parser.add_argument(
        "--wait",
        action="store_true",
        default=argparse.SUPPRESS,
        help="wait for approval (the default)",
    )
    parser.add_argument(
        "--no-wait",
        dest="wait",
        action="store_false",
        default=argparse.SUPPRESS,
        help="leave the call pending and print its id",
    )
    parser.add_argument(
        "--claim",
        metavar="TEXT",
        default=argparse.SUPPRESS,
        help="your description of the change; shown to the user as unverified",
    )
    add_enable_option(parser)
