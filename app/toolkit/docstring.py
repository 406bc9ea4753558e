"""Parse the Google-style docstrings of tools."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass

_SECTION = re.compile(r"(Args|Arguments|Returns|Raises|Examples?|Yields|Note|Notes):\s*$")
_ARGUMENT = re.compile(r"(\w+)(?: *\([^)]*\))?: *(.*)$")


@dataclass(frozen=True, slots=True)
class Documentation:
    """A parsed docstring: its first paragraph, the text before the sections, and the arguments by name."""

    summary: str
    text: str
    arguments: Mapping[str, str]


def parse_docstring(text: str | None) -> Documentation:
    """Parse a docstring; None yields empty fields."""
    lines = inspect.cleandoc(text or "").splitlines()
    body_lines: list[str] = []
    arguments: dict[str, list[str]] = {}
    section, current = "", ""
    for line in lines:
        if match := _SECTION.match(line):
            section = match[1]
        elif not section:
            body_lines.append(line)
        elif section in ("Args", "Arguments"):
            current = _add_argument_line(line, current, arguments)
    body = "\n".join(body_lines).strip()
    descriptions = {name: " ".join(part for part in parts if part) for name, parts in arguments.items()}
    return Documentation(body.partition("\n\n")[0].replace("\n", " "), _unwrap(body), descriptions)


def _add_argument_line(line: str, current: str, arguments: dict[str, list[str]]) -> str:
    """Add a line of the Args section to its argument, and return the name of that argument."""
    indent = len(line) - len(line.lstrip())
    if indent == 4 and (match := _ARGUMENT.match(line.strip())):
        arguments[match[1]] = [match[2]]
        return match[1]
    if current and line.strip():
        arguments[current].append(line.strip())
    return current


def _unwrap(body: str) -> str:
    """Join the lines of each paragraph, except those of lists."""
    paragraphs = body.split("\n\n")
    return "\n\n".join(
        p if re.search(r"^\s*[-*] ", p, re.MULTILINE) else " ".join(p.split()) for p in paragraphs
    )
