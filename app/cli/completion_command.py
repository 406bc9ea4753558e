"""Print the completion script for a shell: verbs, tools, their options and operations, and note names.

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
    """Add the shell, and the hidden options with which the scripts request note names."""
    parser.add_argument("shell", choices=SHELLS)
    parser.add_argument("--notes", metavar="WORD", help=argparse.SUPPRESS)
    parser.add_argument("--line", nargs=argparse.REMAINDER, default=[], help=argparse.SUPPRESS)


def run(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    """Print the script, or the note names for it."""
    # Names must appear quickly while the user types. Unlike the script, they do not need every tool loaded.
    if args.notes is None:
        from app.cli import completion_scripts

        console.out.write(completion_scripts.completion_script(args.shell))
        return ExitStatus.DONE
    from app.cli import completion_source

    for name in completion_source.completions(args.notes, args.line, args.shell):
        console.out.write(f"{name}\n")
    return ExitStatus.DONE
