"""Check the installation and the vault, and suggest how to fix problems.

The vault and the settings are not changed. The command fails if something does not work; warnings do not
count.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from app.cli.console import CliConsole, escape_controls
from app.cli.diagnostics import CheckResult, Severity, ok
from app.cli.exit_status import ExitStatus
from app.cli.installation_checks import check_installation
from app.cli.options import Options, add_json_option, add_vault_option
from app.cli.vault_checks import check_vault
from app.cli.vault_location import locate_vault
from app.errors import VaultLostError
from app.permissions.pluralize import pluralize

_SIGNS = {Severity.OK: ("✓", "green"), Severity.WARNING: ("!", "yellow"), Severity.WRONG: ("✗", "red")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the vault and for JSON."""
    add_vault_option(parser)
    add_json_option(parser)


async def run(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    """Run all checks and show the results.

    Raises:
        VaultLostError: The vault that `--vault` names does not exist.
    """
    options = Options.from_namespace(args)
    results = list(check_installation())
    try:
        location = locate_vault(options.vault)
        results += await check_vault(location.root)
    except VaultLostError as error:
        if options.vault is not None:
            raise
        results.append(ok("vault", f"no vault was checked: {error.message}"))
    if options.json:
        console.print_text(json.dumps([asdict(result) for result in results], ensure_ascii=False) + "\n")
    else:
        _show(results, console)
    return ExitStatus.FAILED if any(result.state is Severity.WRONG for result in results) else ExitStatus.DONE


def _show(results: list[CheckResult], console: CliConsole) -> None:
    from rich.text import Text

    for result in results:
        sign, color = _SIGNS[result.state]
        console.show(
            Text.assemble((f"{sign} ", color), (f"{result.what}: ", "bold"), escape_controls(result.message))
        )
        if result.hint:
            console.show(Text(f"  {escape_controls(result.hint)}", style=color))
    states = [result.state for result in results]
    counts = f"{states.count(Severity.WRONG)} failed, {pluralize(states.count(Severity.WARNING), 'warning')}"
    console.show(Text(f"{len(results)} checks: {counts}."))
