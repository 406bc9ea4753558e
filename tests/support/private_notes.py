"""Ways to mark a note as private, for the tests of privacy."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

CANARY = "xyzzycanary"
_BODY = f"\n# {CANARY} heading\n\nThe {CANARY} body. #{CANARY}tag [[{CANARY} link]]\n"
_FACTS = f"title: {CANARY} title\naliases: [{CANARY} alias]\ntags: [{CANARY}]\n"

_BLOCKS = {
    "plain": "---\n{facts}ai: private\n---\n",
    "first": "---\nai: private\n{facts}---\n",
    "upper key": "---\nAI: private\n{facts}---\n",
    "mixed key": "---\nAi: private\n{facts}---\n",
    "upper value": "---\nai: PRIVATE\n{facts}---\n",
    "quoted": "---\n'ai': \"private\"\n{facts}---\n",
    "spaces": "---\nai:    private   \n{facts}---\n",
    "list": "---\nai:\n  - private\n{facts}---\n",
    "flow list": "---\nai: [private]\n{facts}---\n",
    "list of several": "---\nai: [other, Private]\n{facts}---\n",
    "mapping": "---\nai: {{access: private}}\n{facts}---\n",
    "nested": "---\nsettings:\n  ai: private\n{facts}---\n",
    "twice": "---\nai: private\nai: public\n{facts}---\n",
    "twice in two cases": "---\nAI: private\nai: public\n{facts}---\n",
    "escaped": '---\nai: "priv\\x61te"\n{facts}---\n',
    "escaped key": '---\n"\\x61i": private\n{facts}---\n',
    "alias": "---\nx: &p private\nai: *p\n{facts}---\n",
    "tagged": "---\nai: !secret private\n{facts}---\n",
    "colon in the title": "---\ntitle: Re: plan\nai: private\n{facts}---\n",
    "at sign": "---\nauthor: @me\nai: private\n{facts}---\n",
    "open bracket": "---\nx: [1, 2\nai: private\n{facts}---\n",
    "error after": "---\nai: private\n{facts}y: 'open\n---\n",
    "tab indent": "---\nx:\n\t- 1\nai: private\n{facts}---\n",
    "two documents": "---\nai: private\n{facts}--- {{}}\n---\n",
    "blank first line": "\n---\nai: private\n{facts}---\n",
    "space before": " ---\nai: private\n{facts}---\n",
    "byte order mark": "\ufeff---\nai: private\n{facts}---\n",
    "no-break space": "---\nai:\u00a0private\n{facts}---\n",
    "zero width space": "---\nai\u200b: private\n{facts}---\n",
    "full width": "---\n\uff41\uff49: private\n{facts}---\n",
    "dots as the end": "---\nai: private\n{facts}...\n",
    "no end": "---\nai: private\n{facts}",
    "text after the fence": "--- yaml\nai: private\n{facts}---\n",
    "other fence": '+++\nai = "private"\n{facts}+++\n',
    "no fence": "ai: private\n{facts}",
    "JSON": '---\n{{"ai": "private", "title": "' + CANARY + ' title"}}\n---\n',
    "JSON twice": '---\n{{"ai": "private", "ai": "public", "x": "\\ud83d\\ude00"}}\n---\n',
    "nested deeply": "---\nx: " + "[" * 30 + "]" * 30 + "\nai: private\n{facts}---\n",
    "many keys": "---\nai: private\n{facts}" + "".join(f"k{n}: {n}\n" for n in range(10_001)) + "---\n",
    "large properties": "---\nai: private\n{facts}pad: " + "x" * 70_000 + "\n---\n",
    "many aliases": "---\nx: &p private\ny: [" + "*p, " * 20 + "*p]\nai: *p\n{facts}---\n",
}
VARIANTS: dict[str, str | bytes] = {
    **{name: block.format(facts=_FACTS) + _BODY for name, block in _BLOCKS.items()},
    "carriage returns": ("---\nai: private\n" + _FACTS + "---\n" + _BODY).replace("\n", "\r").encode(),
    "CRLF": ("---\nai: private\n" + _FACTS + "---\n" + _BODY).replace("\n", "\r\n").encode(),
    "UTF-16": ("---\nai: private\n" + _FACTS + "---\n" + _BODY).encode("utf-16"),
    "UTF-16 without a mark": ("---\nai: private\n" + _FACTS + "---\n" + _BODY).encode("utf-16-be"),
    "no UTF-8 in the properties": b"---\nx: \xff\nai: private\n" + (_FACTS + "---\n" + _BODY).encode(),
    "no UTF-8 in the body": ("---\nai: private\n" + _FACTS + "---\n" + _BODY).encode() + b"\xff\xfe\n",
    "over 4 MiB": ("---\nai: private\n" + _FACTS + "---\n" + _BODY + "word \n" * 800_000).encode(),
    "over 4 MiB and no end": ("---\nai: private\n" + _FACTS + _BODY + "word \n" * 800_000).encode(),
}
"""Notes that must be kept from models, by their peculiarity; `written` returns their bytes."""


def written(note: str | bytes) -> bytes:
    """Return the bytes of a variant."""
    return note if isinstance(note, bytes) else note.encode()


PLAIN = f"Notes/{CANARY} plain.md"
"""One of the notes of `write_private_vault`; two symbolic links lead to it."""
HIDDEN_FOLDER = f"Notes/{CANARY} folder"
"""A folder of that vault that contains only a private note."""
_TEA = "# Tea\n\nTea is a drink. See [[Home]].\n\n## Relations\n\n- supports [[Home]]\n"
_LINKS = "\nTea is a drink [[Tea]] #drink\n- supports [[Tea]]\n"


def write_private_vault(root: Path) -> Path:
    """Write private notes of all kinds, two public ones and symbolic links, and return `root`.

    If Git is installed, `root` becomes a repository.
    """
    (root / "Notes").mkdir(parents=True)
    (root / "Links").mkdir()
    (root / "Tea.md").write_text(_TEA)
    (root / "Home.md").write_text("# Home\n\n[[Tea]] #drink\n")
    for name, note in VARIANTS.items():
        (root / "Notes" / f"{CANARY} {name}.md").write_bytes(_linked(written(note), name))
    misnamed = os.fsdecode(CANARY.encode() + b" Gr\xfc\xdfe.md")
    (root / "Notes" / misnamed).write_bytes(written(VARIANTS["plain"]))
    (root / HIDDEN_FOLDER / "deeper").mkdir(parents=True)
    (root / HIDDEN_FOLDER / "deeper" / "Diary.md").write_bytes(written(VARIANTS["list"]))
    for name in ("link.md", "link.txt"):
        (root / "Links" / name).symlink_to(root / PLAIN)
    if (git := shutil.which("git")) is not None:
        subprocess.run([git, "init", "--quiet", str(root)], check=True)
    return root


def _linked(content: bytes, name: str) -> bytes:
    """Return the note with links to public notes, so that a move or a deletion would change it."""
    encoding = "utf-16-le" if name == "UTF-16" else "utf-16-be" if "UTF-16" in name else "utf-8"
    return content + _LINKS.encode(encoding)
