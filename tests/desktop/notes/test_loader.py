"""The reading view of a note with its images."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from app.desktop.notes import loader
from app.vault.markdown.render_values import RenderColors
from app.vault.path import NotePath
from tests.desktop.whole_vault import whole_vault


def test_an_image_that_is_repeated_counts_once(
    gui, service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "_MAX_IMAGES", 2)

    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            for name in "pqr":
                image = QImage(4, 3, QImage.Format.Format_RGB32)
                assert image.save(str(vault.root / f"{name}.png"))
            await vault.run(lambda workspace: workspace.index.scan())
            text = "![[p.png]]\n" * 3 + "![[q.png]]\n![[r.png]]\n"
            rendered = await vault.client.run(
                lambda ws: loader.render_note(ws, NotePath.parse("A.md"), text, RenderColors())
            )
            assert set(rendered.images) == {"vault:p.png", "vault:q.png"}

    gui(main())
