"""The options that every call has, and how they are read."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass

from app.cli.approval_kinds import ApprovalKind, parse_kinds
from app.errors import InvalidParametersError

SPELLINGS = (
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
"""No argument of a tool is written so."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a command is carried out.

    `vault` is the folder that was named. `json`: one line for programs. `approve`: kinds of change that are
    approved in advance. `waits`: for the user's answer. `claim`: what the caller says of the change.
    `enable_tools`: categories of tools that are on for this command.
    """

    vault: str | None = None
    json: bool = False
    approve: frozenset[ApprovalKind] = frozenset()
    waits: bool = True
    claim: str = ""
    enable_tools: tuple[str, ...] = ()

    @classmethod
    def from_namespace(cls, given: argparse.Namespace) -> Options:
        """The options among what was given.

        Raises:
            InvalidParametersError: `--approve` names no kind, or answers what `--no-wait` leaves open.
        """
        if getattr(given, "approve", ()) and not getattr(given, "wait", True):
            message = "--no-wait leaves questions open, and --approve answers them: say one of both."
            raise InvalidParametersError(message)
        return cls(
            getattr(given, "vault", None),
            getattr(given, "json", False),
            parse_kinds(getattr(given, "approve", ())),
            getattr(given, "wait", True),
            getattr(given, "claim", ""),
            read_categories(getattr(given, "enable_tools", ())),
        )


def read_categories(words: Iterable[str]) -> tuple[str, ...]:
    """The categories that `--enable-tools` names, separated by commas."""
    return tuple(dict.fromkeys(one.strip() for word in words for one in word.split(",") if one.strip()))


_VAULT_HELP = "the vault (else SCRIPTORIUM_VAULT, the one around you, or the last opened)"


def add_vault_option(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take `--vault`."""
    parser.add_argument("--vault", metavar="FOLDER", default=argparse.SUPPRESS, help=_VAULT_HELP)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take `--json`."""
    words = "print what came of it as one line of JSON"
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=words)


def add_enable_option(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take `--enable-tools`."""
    parser.add_argument(
        "--enable-tools",
        metavar="CATEGORIES",
        action="append",
        default=argparse.SUPPRESS,
        help="categories of tools to switch on for this command, such as development,web",
    )


def add_call_options(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take all of them."""
    add_vault_option(parser)
    add_json_option(parser)
    parser.add_argument(
        "--approve",
        metavar="KINDS",
        action="append",
        default=argparse.SUPPRESS,
        help="kinds of change to say yes to, such as create,update",
    )
    parser.add_argument(
        "--wait",
        action="store_true",
        default=argparse.SUPPRESS,
        help="wait for the answer to a question (the default)",
    )
    parser.add_argument(
        "--no-wait",
        dest="wait",
        action="store_false",
        default=argparse.SUPPRESS,
        help="leave the question open and print the id of the pending operation",
    )
    parser.add_argument(
        "--claim",
        metavar="TEXT",
        default=argparse.SUPPRESS,
        help="what you say of the change; shown apart to whoever is asked",
    )
    add_enable_option(parser)
