"""The graph view: canvas, gestures, keys, names, legend and tools around one `Graph`."""

from app.desktop.graph_view.look import ColorBy
from app.desktop.graph_view.view import GraphView

__all__ = ["ColorBy", "GraphView"]
