#!/usr/bin/env python3
"""Extract the texts of the window for translators: `python packaging/translations.py FILE.ts`.

Updates the file if it exists. Extracts the texts of the window, those of the core that are a
`TranslatableText`, the titles, descriptions and choices of the settings, and the names of the categories of
tools. Needs pyside6-lupdate, which is part of PySide6. Run it with the environment's Python.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from app.desktop.widgets.model_form import model_texts  # noqa: E402
from app.settings import Settings  # noqa: E402
from app.tools import CATEGORIES  # noqa: E402

_ALIASES = "translate+=PluralText,translate+=TranslatableText"


def source_files() -> list[Path]:
    """Return the Python files with texts that the window shows."""
    files = sorted((ROOT / "app").rglob("*.py"))
    window = ROOT / "app" / "desktop"
    return [
        file for file in files if window in file.parents or "TranslatableText(" in file.read_text("utf-8")
    ]


def extract(target: Path) -> None:
    """Extract all texts into `target`, a .ts file.

    Raises:
        FileNotFoundError: pyside6-lupdate is not installed.
        subprocess.CalledProcessError: The extraction failed.
    """
    name = "pyside6-lupdate"
    program = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if program is None:
        raise FileNotFoundError(f"{name} is not installed")
    with tempfile.TemporaryDirectory() as folder:
        # The extraction reads calls, so texts that are data are written as calls.
        data = Path(folder, "data.py")
        calls = [
            *(f"translate('Settings', {text!r})\n" for text in dict.fromkeys(model_texts(Settings))),
            *(f"translate('ToolCategories', {category.name!r})\n" for category in CATEGORIES),
        ]
        data.write_text("".join(calls), "utf-8")
        listing = Path(folder, "files")
        listing.write_text("\n".join(map(str, [*source_files(), data])), "utf-8")
        command = [program, f"@{listing}", "-ts", str(target), "-tr-function-alias", _ALIASES]
        subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    extract(Path(sys.argv[1]))
