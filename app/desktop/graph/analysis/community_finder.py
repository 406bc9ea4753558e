"""Find communities in a worker, for the colors of a scene."""

from __future__ import annotations

from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from app.desktop.graph.render.edge_renderer import EdgeRenderer
from app.desktop.graph.scene import Scene
from app.graph.model import Graph


class CommunityFinder:
    """Runs one search at a time in the worker that draws links, and repeats it if the graph has changed."""

    def __init__(self, scene: Scene, edges: EdgeRenderer) -> None:
        self._scene = scene
        self._edges = edges
        self._running: tuple[Graph, Future[NDArray[np.int64]]] | None = None
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """True if a search is running."""
        return self._running is not None

    def start(self) -> bool:
        """Start a search if the scene needs it; return whether one started."""
        if not self._scene.needs_communities or self.is_busy or self._is_closed:
            return False
        graph = self._scene.graph
        self._running = graph, self._edges.run_in_worker(lambda: _find_communities(graph))
        return True

    def collect(self) -> bool:
        """Pass a finished result to the scene and return True; if the graph has changed, search again."""
        if self._running is None or not self._running[1].done():
            return False
        (graph, future), self._running = self._running, None
        if self._scene.set_communities(graph, future.result()):
            return True
        self.start()
        return False

    def close(self) -> None:
        """Ignore a running search, and don't start another one."""
        self._is_closed, self._running = True, None


def _find_communities(graph: Graph) -> NDArray[np.int64]:
    """Find a graph's communities; the import is slow, and not needed if communities were saved."""
    from app.graph.coarsen import communities

    return communities(graph.edges, len(graph))
