"""Render TeX as HTML text: symbols, Greek letters, fractions, super- and subscripts; keep other TeX."""

from __future__ import annotations

import re
from html import escape

_SYMBOLS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "varepsilon": "ε",
    "zeta": "ζ",
    "eta": "η",
    "theta": "θ",
    "iota": "ι",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "nu": "ν",
    "xi": "ξ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "phi": "φ",
    "varphi": "φ",
    "chi": "χ",
    "psi": "ψ",
    "omega": "ω",
    "Gamma": "Γ",
    "Delta": "Δ",
    "Theta": "Θ",
    "Lambda": "Λ",
    "Xi": "Ξ",
    "Pi": "Π",
    "Sigma": "Σ",
    "Phi": "Φ",
    "Psi": "Ψ",
    "Omega": "Ω",
    "times": "×",
    "cdot": "·",
    "div": "÷",
    "pm": "±",
    "mp": "∓",
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "neq": "≠",
    "ne": "≠",
    "approx": "≈",
    "equiv": "≡",
    "sim": "∼",
    "propto": "∝",
    "infty": "∞",
    "partial": "∂",
    "nabla": "∇",
    "sum": "∑",
    "prod": "∏",
    "int": "∫",
    "forall": "∀",
    "exists": "∃",
    "in": "∈",
    "notin": "∉",
    "subset": "⊂",
    "subseteq": "⊆",
    "cup": "∪",
    "cap": "∩",
    "emptyset": "∅",
    "to": "→",
    "rightarrow": "→",
    "leftarrow": "←",
    "Rightarrow": "⇒",
    "Leftrightarrow": "⇔",
    "mapsto": "↦",
    "land": "∧",
    "lor": "∨",
    "neg": "¬",
    "ldots": "…",
    "cdots": "⋯",
    "dots": "…",
    "quad": "\u2003",
    "langle": "⟨",
    "rangle": "⟩",
    "circ": "∘",
    "degree": "°",
    "ell": "ℓ",
    "hbar": "ℏ",
    "left": "",
    "right": "",
    "displaystyle": "",
    ",": "\u2009",
    ";": "\u2005",
    "!": "",
    " ": " ",
    "{": "{",
    "}": "}",
    "%": "%",
    "$": "$",
    "#": "#",
    "&": "&amp;",
    "_": "_",
    "|": "‖",
    "\\": "<br>",
}
_TEXT_COMMANDS = frozenset(
    ["text", "mathrm", "mathbf", "mathit", "mathcal", "mathbb", "operatorname", "boldsymbol", "bar"]
)
_TOKEN = re.compile(r"\\([A-Za-z]+|.)[ \t]?|([{}^_])|([^\\{}^_]+)", re.DOTALL)
_MAX_TEX_CHARS = 4000
_MAX_DEPTH = 12


def math_html(tex: str) -> str:
    """Return a formula as HTML with super- and subscripts; a very long one is left as TeX."""
    if len(tex) > _MAX_TEX_CHARS:
        return escape(tex, quote=False)
    tokens = [match.groups("") for match in _TOKEN.finditer(tex.strip())]
    html, _ = _parse_sequence(tokens, 0, 0)
    return html


def _parse_sequence(tokens: list[tuple[str, ...]], index: int, depth: int) -> tuple[str, int]:
    """Return the HTML up to the closing brace of this group, and the index after it.

    Outside a group, a closing brace is text.
    """
    pieces: list[str] = []
    while index < len(tokens):
        command, mark, words = tokens[index]
        if mark == "}" and depth:
            return "".join(pieces), index + 1
        if mark in ("^", "_"):
            inner, index = _parse_argument(tokens, index + 1, depth)
            tag = "sup" if mark == "^" else "sub"
            pieces.append(f"<{tag}>{inner}</{tag}>")
        elif command:
            piece, index = _parse_command(tokens, index, depth)
            pieces.append(piece)
        elif mark == "{":
            inner, index = _parse_argument(tokens, index, depth)
            pieces.append(inner)
        else:
            pieces.append(mark or escape(words, quote=False))
            index += 1
    return "".join(pieces), index


def _parse_command(tokens: list[tuple[str, ...]], index: int, depth: int) -> tuple[str, int]:
    name = tokens[index][0]
    if name in ("frac", "dfrac", "tfrac"):
        top, index = _parse_argument(tokens, index + 1, depth)
        bottom, index = _parse_argument(tokens, index, depth)
        return f"{_parenthesize(top)}⁄{_parenthesize(bottom)}", index
    if name == "sqrt":
        inner, index = _parse_argument(tokens, index + 1, depth)
        return f"√{_parenthesize(inner)}", index
    if name in _TEXT_COMMANDS:
        return _parse_argument(tokens, index + 1, depth)
    return _SYMBOLS.get(name, escape(f"\\{name} ", quote=False)), index + 1


def _parse_argument(tokens: list[tuple[str, ...]], index: int, depth: int) -> tuple[str, int]:
    """Return the argument of a command or of `^`/`_`: a group, a command or one character.

    Beyond the nesting limit, a group drops the rest of the formula, and a command is dropped.
    """
    if index >= len(tokens):
        return "", index
    command, mark, words = tokens[index]
    if mark == "{":
        if depth >= _MAX_DEPTH:
            return "", len(tokens)
        return _parse_sequence(tokens, index + 1, depth + 1)
    if command:
        return _parse_command(tokens, index, depth + 1) if depth < _MAX_DEPTH else ("", index + 1)
    if words:
        bare = words.lstrip()
        tokens[index] = ("", "", bare[1:])
        return escape(bare[:1], quote=False), index if bare[1:] else index + 1
    return "", index


def _parenthesize(html: str) -> str:
    return html if len(re.sub(r"<[^>]*>|&\w+;", "x", html)) <= 1 else f"({html})"
