from __future__ import annotations

from pathlib import Path

import networkx as nx

from app.graph.builder import build_from
from app.graph.export import write_graphml
from app.graph.model import GraphEdge, GraphNode


def test_graphml_has_every_node_even_if_its_path_is_not_valid_text(tmp_path: Path) -> None:
    paths = ["Tea.md", "Te\x01a.md", "Te\udcffa.md"]
    nodes = [GraphNode(path, path, "note", "note", (), "", 0.0) for path in paths]
    graph = build_from(nodes, [GraphEdge(paths[1], paths[2], "ne\x02ar")])
    write_graphml(graph, None, tmp_path / "graph.graphml")
    network = nx.read_graphml(tmp_path / "graph.graphml", force_multigraph=True)
    assert list(network) == ["Tea.md", "Tea.md (2)", "Tea.md (3)"]
    assert [(a, b, fields["type"]) for a, b, fields in network.edges(data=True)] == [
        ("Tea.md (2)", "Tea.md (3)", "near")
    ]
