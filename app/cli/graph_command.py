"""Export the graph as SVG, PNG, GraphML or JSON, depending on the file's suffix.

The export uses the layout that the window saved, or computes one. It leaves out notes that are hidden from
programs outside the window. PNG images have no names, because drawing them needs the window's fonts.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from app import paths
from app.cli.approvers import DenyAll
from app.cli.console import CliConsole
from app.cli.exit_status import ExitStatus
from app.cli.invoke import resolve_vault
from app.cli.options import Options, add_vault_option
from app.cli.session import CliSession, open_session, show_scan_progress
from app.errors import InvalidParametersError, StorageError
from app.events import EventBus
from app.permissions.pluralize import pluralize
from app.settings import load_settings

if TYPE_CHECKING:
    from app.graph.model import Graph, Positions

FORMATS = (".svg", ".png", ".json", ".graphml")
_PAGE_SIZE = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the `export` subcommand and its arguments."""
    subcommands = parser.add_subparsers(required=True, metavar="export")
    export = subcommands.add_parser("export", help=f"write the graph to a file ({', '.join(FORMATS)})")
    export.add_argument("file", type=Path, help="the file to write")
    export.add_argument("--width", type=int, default=1600, help="image width in pixels (1600)")
    export.add_argument("--height", type=int, default=1000, help="image height in pixels (1000)")
    export.add_argument("--dark", action="store_true", help="use a dark background")
    export.add_argument("--no-names", dest="names", action="store_false", help="leave out the names")
    add_vault_option(export)


async def run(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    """Write the graph of the visible notes to the file."""
    file: Path = args.file
    if file.suffix not in FORMATS:
        raise InvalidParametersError(f"{file.name}: the file name must end in one of {', '.join(FORMATS)}.")
    root = resolve_vault(Options.from_namespace(args), console).root
    async with open_session(root, DenyAll(), console) as session:
        graph = await _visible_graph(session, root, console)
    console.show_progress(f"laying out {len(graph):,} nodes")
    await asyncio.to_thread(_write, graph, root, args)
    console.end_progress()
    console.print_text(
        f"{pluralize(len(graph), 'node')} and {pluralize(len(graph.edges), 'link')} written to {file}\n"
    )
    return ExitStatus.DONE


async def _visible_graph(session: CliSession, root: Path, console: CliConsole) -> Graph:
    """Return the graph of the notes that programs outside the window may see."""
    from app.graph.builder import build
    from app.graph.export import visible_subgraph

    visible: set[str] = set()
    page = await session.access.notes(session.client, limit=_PAGE_SIZE)
    visible.update(page.paths)
    while page.next:
        page = await session.access.notes(session.client, page.next, _PAGE_SIZE)
        visible.update(page.paths)
    if session.vault is not None:
        data = await session.vault.graph.data()
        return visible_subgraph(build(data), visible)
    from app.index.vault_index import VaultIndex

    # Use a separate index to avoid lock contention with the process that holds the vault.
    folder = paths.vault_cache_folder(root) / "reader"
    folder.mkdir(exist_ok=True)
    index = VaultIndex(root, folder, load_settings().index, EventBus())
    await index.open()
    try:
        await index.scan(lambda progress: show_scan_progress(console, progress), lambda: False)
        return visible_subgraph(build(await asyncio.to_thread(index.graph)), visible)
    finally:
        await index.close()


def _write(graph: Graph, root: Path, args: argparse.Namespace) -> None:
    from app.graph.export import write_graphml, write_json
    from app.graph.headless_render import RenderOptions, write_picture

    file: Path = args.file
    options = RenderOptions(args.width, args.height, args.dark, args.names)
    positions = _positions(graph, root, options.width / max(options.height, 1))
    try:
        if file.suffix == ".json":
            write_json(graph, positions, file)
        elif file.suffix == ".graphml":
            write_graphml(graph, positions, file)
        else:
            write_picture(graph, positions, file, options)
    except OSError as error:
        message = f"{file} can't be written: {error.strerror or error}. An existing file is unchanged."
        raise StorageError(message, path=str(file)) from error


def _positions(graph: Graph, root: Path, aspect: float) -> Positions:
    from app.graph.layouts.force_directed import compute_layout
    from app.graph.position_transfer import place_missing
    from app.graph.positions import load_positions

    saved = load_positions(paths.vault_cache_folder(root), graph)
    return place_missing(graph, saved) if saved is not None else compute_layout(graph, aspect=aspect)
