"""The texts used to measure and test the editor."""

from __future__ import annotations

import random

TOUR = """---
title: A tour
tags: [garden, notes]
---
# The garden in autumn

Some **bold**, *italic*, ***both***, `code`, ~~gone~~, ==marked==
and a [[Rose Garden|wikilink]] to [a page](https://example.org/a(b))
with #tag/sub and $e^{i\\pi}+1=0$. A footnote[^1] and %%a comment%% and <b>html</b>. ^block-id

Setext heading
===

## Tasks
- [ ] Prune the **roses** before the frost
- [x] Order bulbs from [[Nursery]]
    - [ ] a child task that is long enough to wrap over the end of a line, and so shows hanging indent
- A bullet with `code`
  - nested
1. First
2. Second

> [!warning] Mind the frost
> The **last** frost came on 12 May.
> > [!tip]
> > See [[Weather]].

> [!note]- Folded
> Not seen at first.

> A plain quote.

![[photo.png]]

| Plant | When | Note |
| --- | :---: | --- |
| **Tulip** | October | plant 15 cm deep, in [[Bed 3]] |
| Allium | September | `A. giganteum` |

```python
def water(plant: str, litres: float = 1.5) -> None:
    print(f"{plant} gets {litres}")
```

$$
\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}
$$

```mermaid
flowchart LR
  A[Start] --> B{Frost?}
  B -->|yes| C[Cover]
```
A sum $\\sum_{n=1}^{\\infty} \\frac{1}{n^2}$ in a line of text, and a [[link]] after it.

---
%%
A block comment
%%
<div>
html
</div>

[^1]: The footnote.

שלום עולם, this is **mixed** with עברית and 日本語の and emoji 👩‍👩‍👧‍👦 🌷 end.
"""
_WORDS = [
    "garden",
    "rose",
    "tulip",
    "frost",
    "water",
    "the",
    "and",
    "of",
    "bulb",
    "spring",
    "autumn",
    "soil",
    "**deep**",
    "[[Nursery]]",
    "`pH`",
    "bed",
    "*slow*",
    "light",
    "shade",
    "path",
    "gate",
    "wall",
    "seed",
    "compost",
]
_CJK = "春の庭に花が咲く静かな朝露光る木漏日風鳥歌う"


def note() -> str:
    """Return a typical note of 5 KB with every construct."""
    return (TOUR * 4)[:5_000]


def prose(size: int = 1_000_000) -> str:
    """Return paragraphs, headings and tasks of about `size` characters."""
    rng = random.Random(1)
    lines, total, number = [], 0, 0
    while total < size:
        number += 1
        if number % 12 == 0:
            line = f"## Section {number}"
        elif number % 7 == 0:
            line = f"- [ ] task {number} " + " ".join(rng.choices(_WORDS, k=6))
        elif number % 3 == 0:
            line = ""
        else:
            line = " ".join(rng.choices(_WORDS, k=rng.randint(10, 60)))
        lines.append(line)
        total += len(line) + 1
    return "\n".join(lines)


def many_lines() -> str:
    """Return 20,000 short lines."""
    rng = random.Random(2)
    return "\n".join(" ".join(rng.choices(_WORDS, k=6)) for _ in range(20_000))


def one_long_line() -> str:
    """Return a line of 127,000 characters between short ones."""
    rng = random.Random(3)
    words = [word for word in _WORDS if word[0].isalpha()]
    return f"# Long\n\n{' '.join(rng.choices(words, k=30_000))[:127_000]}\n\nafter"


def cjk() -> str:
    """Return 1 MB of Japanese in long paragraphs."""
    rng = random.Random(4)
    return "\n".join("".join(rng.choices(_CJK, k=rng.randint(40, 400))) + "。**太字**" for _ in range(1_600))


def mixed() -> str:
    """Return text in both writing directions with emoji and characters outside the basic plane."""
    rng = random.Random(5)
    words = [
        "שלום",
        "עולם",
        "**מודגש**",
        "hello",
        "world",
        "مرحبا",
        "بالعالم",
        "👩\u200d👩\u200d👧\u200d👦",
        "🌷",
        "日本",
        "[[קישור]]",
        "café",
        "𝔘𝔫𝔦",
    ]
    return "\n".join(" ".join(rng.choices(words, k=rng.randint(8, 40))) for _ in range(4_000))


TEXTS = {
    "5 KB": note,
    "1 MB": prose,
    "20,000 lines": many_lines,
    "127,000 in one line": one_long_line,
    "CJK 1 MB": cjk,
    "bidi and emoji": mixed,
}
