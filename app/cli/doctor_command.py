"""Check the installation and the vault, and say how to mend what is wrong.

It changes nothing. It has failed when something is wrong; warnings are no failure.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from app.cli.exit_status import Exit
from app.cli.findings import Finding, State
from app.cli.installation_checks import check_installation
from app.cli.options import Options, add_json_option, add_vault_option
from app.cli.screen import Screen, safe
from app.cli.vault_checks import check_vault
from app.cli.vault_choice import choose_vault
from app.errors import VaultLostError

_SIGNS = {State.OK: ("✓", "green"), State.WARNING: ("!", "yellow"), State.WRONG: ("✗", "red")}


def add_to(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take a vault."""
    add_vault_option(parser)
    add_json_option(parser)


async def run(given: argparse.Namespace, screen: Screen) -> Exit:
    """Look at everything and tell."""
    options = Options.of(given)
    found = list(check_installation())
    try:
        choice = choose_vault(options.vault)
        found += await check_vault(choice.root)
    except VaultLostError as error:
        if options.vault is not None:
            raise
        found.append(Finding("vault", State.OK, f"none was looked at: {error.message}"))
    if options.json:
        screen.text(json.dumps([asdict(one) for one in found], ensure_ascii=False) + "\n")
    else:
        _show(found, screen)
    return Exit.FAILED if any(one.state is State.WRONG for one in found) else Exit.DONE


def _show(found: list[Finding], screen: Screen) -> None:
    from rich.text import Text

    for one in found:
        sign, color = _SIGNS[one.state]
        screen.show(Text.assemble((f"{sign} ", color), (f"{one.what}: ", "bold"), safe(one.words)))
        if one.hint:
            screen.show(Text(f"  {safe(one.hint)}", style=color))
    states = [one.state for one in found]
    counts = f"{states.count(State.WRONG)} wrong, {states.count(State.WARNING)} to look at"
    screen.show(Text(f"{len(found)} checks: {counts}."))
