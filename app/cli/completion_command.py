"""Print what completes commands in a shell: verbs, tools, their options and operations, and notes' names.

bash: scriptorium completion bash > ~/.local/share/bash-completion/completions/scriptorium
zsh:  scriptorium completion zsh > "${fpath[1]}/_scriptorium"
fish: scriptorium completion fish > ~/.config/fish/completions/scriptorium.fish
"""

from __future__ import annotations

import argparse

from app.cli.console import CliConsole
from app.cli.exit_status import ExitStatus

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take a shell; the scripts ask for notes, and give the line so far."""
    parser.add_argument("shell", choices=SHELLS)
    parser.add_argument("--notes", metavar="WORD", help=argparse.SUPPRESS)
    parser.add_argument("--line", nargs=argparse.REMAINDER, default=[], help=argparse.SUPPRESS)


def run(given: argparse.Namespace, screen: CliConsole) -> ExitStatus:
    """Print the script, or the names of notes for it."""
    # Each is imported alone: names are wanted while somebody types, and the script knows every tool.
    if given.notes is None:
        from app.cli import completion_scripts

        screen.out.write(completion_scripts.completion_script(given.shell))
        return ExitStatus.DONE
    from app.cli import completion_source

    for name in completion_source.completions(given.notes, given.line, given.shell):
        screen.out.write(f"{name}\n")
    return ExitStatus.DONE
