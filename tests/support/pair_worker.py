"""A scripted stand-in for the Python of a cross-encoder, which speaks the worker's protocol over its pipes.

Its behavior depends on the model's name: `dies` ends at the first question, `hangs` never answers (and logs
the question as `asked`), `none` can't be loaded. Every other model reports a contradiction for a hypothesis
with “not”, and entailment for all others.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
_PROGRAM = f"""#!{sys.executable}
import json, os, struct, sys
sys.path.insert(0, {str(ROOT)!r})
from app.embeddings import protocol
from app.processes import frames as wire

name = sys.argv[sys.argv.index("--cross-encoder") + 1]

def note(word):
    with open({{log!r}}, "a", encoding="utf-8") as log:
        log.write(word + "\\n")

note(name)

def say(frame):
    sys.stdout.buffer.write(frame.pack())
    sys.stdout.buffer.flush()

if name == "none":
    say(wire.Frame(protocol.FAILED, body=b"There is no such model."))
    sys.exit(1)
say(wire.Frame(protocol.READY, body=b'{{{{"dimension": 3}}}}'))
while (frame := wire.read_frame(sys.stdin.buffer)) is not None:
    if name == "dies":
        os._exit(3)
    if name == "hangs":
        note("asked")
        continue
    assert frame.kind == protocol.CLASSIFY
    rows = [(0.9, 0.02, 0.08) if "not" in pair[1].split() else (0.03, 0.95, 0.02)
            for pair in json.loads(frame.body)]
    say(wire.Frame(protocol.VECTORS, frame.number, b"".join(struct.pack("<3f", *row) for row in rows)))
"""


class PairProgram:
    """Writes the program to `folder`; `path` is the value of the setting for another Python."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "python with a cross-encoder"
        self._log = folder / "starts"
        self.path.write_text(_PROGRAM.format(log=str(self._log)), "utf-8")
        self.path.chmod(0o755)

    @property
    def starts(self) -> list[str]:
        """The model of each start, and `asked` for each unanswered question, in order."""
        return self._log.read_text("utf-8").split() if self._log.exists() else []
