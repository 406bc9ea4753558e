"""Cut points of a vault: links and notes whose removal would split the graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.analysis.network import AdjacencyArrays
from app.graph.static_layout import Report, no_progress


@dataclass(frozen=True, eq=False)
class CutPoints:
    """Bridges and articulation points, those with the largest effect first.

    Args:
        bridges: int32 (k, 2), the endpoint rows of links that are the only connection between two parts.
        cut_off: int32 (k,), the number of nodes on the smaller side of each bridge.
        articulations: int32 (j,), rows of nodes whose removal splits their component.
        lost: int32 (j,), the number of other nodes that each removal disconnects from the largest remainder.
    """

    bridges: NDArray[np.int32]
    cut_off: NDArray[np.int32]
    articulations: NDArray[np.int32]
    lost: NDArray[np.int32]


def find_cut_points(network: AdjacencyArrays, report: Report = no_progress) -> CutPoints:
    """Return the bridges and articulation points, from one search for biconnected components."""
    import networkx

    report(-1, "Looking for bridges")
    blocks = [sorted(block) for block in networkx.biconnected_components(network.undirected())]
    tree = _BlockTree(blocks)
    bridges = [(tree.smaller_side(number), block) for number, block in enumerate(blocks) if len(block) == 2]
    bridges.sort(key=lambda bridge: (-bridge[0], bridge[1]))
    ranked = sorted((-tree.nodes_cut_off(node), node) for node in tree.cuts)
    return CutPoints(
        np.array([block for _, block in bridges], dtype=np.int32).reshape(-1, 2),
        np.array([side for side, _ in bridges], dtype=np.int32),
        np.array([node for _, node in ranked], dtype=np.int32),
        np.array([-count for count, _ in ranked], dtype=np.int32),
    )


class _BlockTree:
    """A forest of biconnected components; components are joined at the nodes that they share.

    Args:
        blocks: The rows in each component.
    """

    def __init__(self, blocks: list[list[int]]) -> None:
        self._blocks = blocks
        blocks_of_node: dict[int, list[int]] = {}
        for number, block in enumerate(blocks):
            for node in block:
                blocks_of_node.setdefault(node, []).append(number)
        self.cuts = {node: numbers for node, numbers in blocks_of_node.items() if len(numbers) > 1}
        self._below = [0] * len(blocks)
        self._total = [0] * len(blocks)
        self._parent = [-1] * len(blocks)
        is_placed = [False] * len(blocks)
        for number in range(len(blocks)):
            if not is_placed[number]:
                self._weigh(number, is_placed)

    def _weigh(self, root: int, is_placed: list[bool]) -> None:
        """Count the nodes below each block, excluding the node that connects it to its parent."""
        order: list[int] = []
        pending = [root]
        is_placed[root] = True
        while pending:
            block = pending.pop()
            order.append(block)
            for node in self._blocks[block]:
                if node != self._parent[block]:
                    for other in self.cuts.get(node, ()):
                        if not is_placed[other]:
                            is_placed[other] = True
                            self._parent[other] = node
                            pending.append(other)
        owner: dict[int, int] = {}
        for block in order:
            for node in self._blocks[block]:
                owner.setdefault(node, block)
        for block in reversed(order):
            self._below[block] += len(self._blocks[block]) - (block != root)
            if block != root:
                self._below[owner[self._parent[block]]] += self._below[block]
        for block in order:
            self._total[block] = self._below[root]

    def smaller_side(self, bridge: int) -> int:
        """Return the number of nodes on the smaller side of a bridge."""
        below, total = self._below[bridge], self._total[bridge]
        if self._parent[bridge] < 0:
            # The root has no parent: take the side of its second node.
            node = self._blocks[bridge][1]
            below = 1 + sum(self._below[other] for other in self.cuts.get(node, ()) if other != bridge)
        return min(below, total - below)

    def nodes_cut_off(self, node: int) -> int:
        """Return the number of nodes that the removal of `node` disconnects from the largest remainder."""
        blocks = self.cuts[node]
        total = self._total[blocks[0]]
        sides = [self._below[block] for block in blocks if self._parent[block] == node]
        sides.append(total - 1 - sum(sides))
        return total - 1 - max(sides)
