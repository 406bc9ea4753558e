"""Export a graph as JSON or GraphML, and restrict a graph to given notes."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.graph.model import Graph, Positions
from app.storage.files import replacing


def visible_subgraph(graph: Graph, notes: Collection[str]) -> Graph:
    """Return the subgraph of `notes` and the unresolved names and attachments linked to them."""
    note_paths = set(notes)
    is_wanted = np.array([path in note_paths for path in graph.paths], dtype=bool) | ~graph.is_note
    is_inner = (
        is_wanted[graph.edges[:, 0]] & is_wanted[graph.edges[:, 1]] if len(graph.edges) else np.zeros(0, bool)
    )
    linked = np.zeros(len(graph), dtype=bool)
    linked[graph.edges[is_inner].ravel()] = True
    kept_rows = np.flatnonzero(is_wanted & (graph.is_note | linked))
    row_index = np.full(len(graph), -1, dtype=np.int32)
    row_index[kept_rows] = np.arange(len(kept_rows), dtype=np.int32)
    rows = kept_rows.tolist()
    return Graph(
        paths=tuple(graph.paths[row] for row in rows),
        names=tuple(graph.names[row] for row in rows),
        types=tuple(graph.types[row] for row in rows),
        kinds=tuple(graph.kinds[row] for row in rows),
        tags=tuple(graph.tags[row] for row in rows),
        folders=tuple(graph.folders[row] for row in rows),
        modified=graph.modified[kept_rows],
        edges=np.ascontiguousarray(row_index[graph.edges[is_inner]]).reshape(-1, 2),
        edge_types=graph.edge_types,
        edge_codes=graph.edge_codes[is_inner],
        confidence=graph.confidence[is_inner],
    )


def write_json(graph: Graph, positions: Positions | None, file: Path) -> None:
    """Write nodes and links as one JSON object in the node-link format of D3 and NetworkX.

    Raises:
        OSError: The file can't be written; an existing file is unchanged.
    """
    nodes = [_node_fields(graph, row) | _position_fields(positions, row) for row in range(len(graph))]
    links = [
        {"source": graph.paths[a], "target": graph.paths[b], **_link_fields(graph, index)}
        for index, (a, b) in enumerate(graph.edges.tolist())
    ]
    text = json.dumps({"directed": True, "nodes": nodes, "links": links}, ensure_ascii=False)
    with replacing(file) as temporary:
        temporary.write_bytes(text.encode("utf-8", "surrogateescape"))


def write_graphml(graph: Graph, positions: Positions | None, file: Path) -> None:
    """Write GraphML for Gephi, yEd and NetworkX.

    Raises:
        OSError: The file can't be written; an existing file is unchanged.
    """
    import networkx as nx

    network: Any = nx.MultiDiGraph()
    ids = _graphml_ids(graph.paths)
    for row in range(len(graph)):
        fields = _node_fields(graph, row) | _position_fields(positions, row)
        del fields["id"]
        network.add_node(ids[row], **{key: _graphml_value(value) for key, value in fields.items()})
    for index, (a, b) in enumerate(graph.edges.tolist()):
        fields = _link_fields(graph, index)
        network.add_edge(ids[a], ids[b], **{key: _graphml_value(value) for key, value in fields.items()})
    with replacing(file) as temporary:
        temporary.write_bytes("\n".join(nx.generate_graphml(network)).encode("utf-8"))


def _node_fields(graph: Graph, row: int) -> dict[str, Any]:
    return {
        "id": graph.paths[row],
        "name": graph.names[row],
        "type": graph.types[row],
        "kind": graph.kinds[row],
        "folder": graph.folders[row],
        "tags": list(graph.tags[row]),
    }


def _position_fields(positions: Positions | None, row: int) -> dict[str, Any]:
    if positions is None:
        return {}
    return {"x": round(float(positions[row, 0]), 3), "y": round(float(positions[row, 1]), 3)}


def _link_fields(graph: Graph, index: int) -> dict[str, Any]:
    confidence = float(graph.confidence[index])
    fields = {"type": graph.edge_types[int(graph.edge_codes[index])]}
    return fields if np.isnan(confidence) else {**fields, "confidence": round(confidence, 4)}


def _graphml_ids(paths: Sequence[str]) -> list[str]:
    """Return the paths without nonprintable characters, with a number added to duplicates."""
    ids: dict[str, None] = {}
    for path in paths:
        printable = name = str(_graphml_value(path))
        number = 1
        while name in ids:
            number += 1
            name = f"{printable} ({number})"
        ids[name] = None
    return list(ids)


def _graphml_value(value: object) -> object:
    """Return a value for GraphML: lists joined by commas, and text without nonprintable characters."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else value
    return "".join(c for c in text if c.isprintable()) if isinstance(text, str) else text
