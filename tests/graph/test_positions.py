from __future__ import annotations

import numpy as np

from app.graph.positions import load_positions, save_positions
from tests.graph.graphs import of_edges, planted


def test_positions_come_back_by_path_whatever_the_order(tmp_path):
    first = of_edges(["ab", "bc"])
    places = np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)
    save_positions(tmp_path / "cache", first, places)
    again = load_positions(tmp_path / "cache", of_edges(["cb", "ba", "ad"]))
    assert again is not None
    assert again[:3].tolist() == [[5, 6], [3, 4], [1, 2]]
    assert np.isnan(again[3]).all()


def test_nothing_saved_damaged_or_of_another_vault_is_none(tmp_path):
    graph, _ = planted(3, 10)
    assert load_positions(tmp_path, graph) is None
    save_positions(tmp_path, of_edges(["ab"]), np.zeros((2, 2), dtype=np.float32))
    assert load_positions(tmp_path, graph) is None
    (tmp_path / "layout.npz").write_bytes(b"PK\x03\x04 not really")
    assert load_positions(tmp_path, graph) is None
    (tmp_path / "layout.npz").write_bytes(b"")
    assert load_positions(tmp_path, graph) is None


def test_saving_leaves_one_file(tmp_path):
    graph = of_edges(["ab"])
    for value in (1, 2):
        save_positions(tmp_path, graph, np.full((2, 2), value, dtype=np.float32))
    assert [each.name for each in tmp_path.iterdir()] == ["layout.npz"]
    loaded = load_positions(tmp_path, graph)
    assert loaded is not None
    assert (loaded == 2).all()
