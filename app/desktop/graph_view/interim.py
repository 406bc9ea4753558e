"""Interim: what API-frames.md promises, until it lands. Not to be landed."""
from __future__ import annotations
from dataclasses import dataclass
import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter, QColor
from app.desktop.graph_view.look import Group, NodeLook, edge_look

@dataclass
class Overview:
    image: QImage
    area: QRectF

class Interim:
    overview = None
    _colors = None
    def set_node_colors(self, colors):
        self._colors = colors
        self.scene.restyle()
        if colors is not None:
            nodes = self.scene.nodes
            self.scene.plain_nodes = nodes
            uniq = [c for c in np.unique(colors).tolist() if c != 0xFFFFFFFF]
            at = {c: len(nodes.groups) + i for i, c in enumerate(uniq)}
            group = nodes.group.copy()
            for c, i in at.items():
                group[colors == c] = i
            groups = (*nodes.groups, *(Group(f"x{c}", "", f"#{c:06x}", 0) for c in uniq))
            self.scene.nodes = NodeLook(group, groups)
            self.scene.edges = edge_look(self.scene.graph, self.scene.theme, self.scene.nodes, self.scene.strength)
        self._make_atlas(); self.refresh()
    def set_node_sizes(self, factors):
        from app.graph.model import node_radii
        self.scene.radii = node_radii(self.scene.graph) * (1 if factors is None else np.clip(factors, .25, 6))
        self.refresh()
    def set_visible(self, mask):
        self.scene.refilter()
        if mask is not None:
            self.scene.strength[~mask] = 0
            self.scene.edges = edge_look(self.scene.graph, self.scene.theme, self.scene.nodes, self.scene.strength)
        self.refresh()
    def highlight_path(self, rows):
        pass
    def set_glow(self, key, paths, color="", breathing=False):
        self.scene.pending = set(paths); self.wake()
    def viewport(self):
        c = self.camera
        w, h = self.width() / c.scale, self.height() / c.scale
        return QRectF(c.x - w / 2, c.y - h / 2, w, h)
    def want_overview(self, w, h):
        if not w:
            self.overview = None
            return
        p = self.scene.positions
        lo, hi = p.min(axis=0), p.max(axis=0)
        area = QRectF(float(lo[0]), float(lo[1]), float(hi[0] - lo[0]), float(hi[1] - lo[1])).adjusted(-2, -2, 2, 2)
        k = min(w / area.width(), h / area.height())
        im = QImage(round(area.width() * k), round(area.height() * k), QImage.Format.Format_ARGB32_Premultiplied)
        im.fill(0)
        q = QPainter(im)
        for r, (x, y) in enumerate(p.tolist()):
            q.fillRect(QRectF((x - area.x()) * k, (y - area.y()) * k, 1, 1), QColor(self.scene.nodes.groups[self.scene.nodes.group[r]].color))
        q.end()
        self.overview = Overview(im, area)
        self.overview_changed.emit()
    def centre_on(self, x, y):
        from app.desktop.graph_view.camera import Camera
        self.eye.set(Camera(x, y, self.camera.scale)); self.touched()
