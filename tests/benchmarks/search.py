"""Measure searches: `python -m tests.benchmarks.search [vault…] [--full] [--check]` prints p50 and p95.

Each query asks for 20 hits with their lines, as the search panel does, on a generated vault of 10,000 notes,
with `--full` also on one of 100,000, and on each named vault. The words are the vault's own: very common ones
are the most frequent, common ones are in 1 to 10 % of the notes, rare ones in at most 0.4 %. ripgrep searches
for some of the words in the same run, if it is available. With `--check` the exit status is 1 if the p95 of
any kind of query exceeds 15 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.index_peers import find_ripgrep

if TYPE_CHECKING:
    from app.index.search_request import Order
    from app.index.vault_index import VaultIndex

TARGET_MS = 15.0
HITS_PER_SEARCH = 20
ROUNDS = 5
SAMPLED_NOTES = 3000
Queries = dict[str, list[str]]


def percentile(times: Sequence[float], share: float) -> float:
    """Return the time that this share of the runs does not exceed."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def vocabulary(texts: Iterable[str]) -> tuple[list[str], Counter[str], list[str]]:
    """Return words by frequency, the number of notes for each, and pairs of adjacent words."""
    from app.index.normalization import fold, is_unspaced, tokenize

    counts: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for text in texts:
        tokens = [word for word in tokenize(fold(text)) if len(word) > 1 or is_unspaced(word)]
        counts.update(set(tokens))
        pairs.update(f"{a} {b}" for a, b in zip(tokens[::7], tokens[1::7], strict=False) if a.isascii())
    ordered = [word for word, _ in counts.most_common()]
    return ordered, counts, [pair for pair, _ in pairs.most_common(400)]


def queries(texts: Sequence[str], tags: Sequence[str]) -> Queries:
    """Return the queries by kind, built from the words of some notes."""
    dice = random.Random(3)
    ordered, counts, pairs = vocabulary(texts)
    size = len(texts)
    plain = [word for word in ordered if word.isascii() and word.isalpha()]

    def some(low: float, high: float, many: int) -> list[str]:
        fitting = [word for word in plain if low * size <= counts[word] <= high * size]
        return dice.sample(fitting, min(many, len(fitting)))

    common, rare = some(0.01, 0.1, 20), some(0, 0.004, 30)
    typed = [word[:end] for word in rare[:6] for end in range(1, len(word) + 1)]
    wide = [word for word in ordered if not word.isascii()][:200]
    cjk = [a + b for a, b in zip(dice.sample(wide, min(10, len(wide))), wide, strict=False)] + wide[:5]
    return {
        "very common word": [f"{word} " for word in plain[:12]],
        "common word": [f"{word} " for word in common],
        "rare word": [f"{word} " for word in rare],
        "typing a word": typed,
        "two words": [f"{a} {b} " for a, b in zip(plain[:10] + common, common + rare, strict=False)],
        "very common and rare": [f"{a} {b} " for a, b in zip(plain[:12], rare, strict=False)],
        "any of two": [f"{a} OR {b} " for a, b in zip(common, rare, strict=False)],
        "one without the other": [f"{a} -{b} " for a, b in zip(common, plain, strict=False)],
        "phrase": [f'"{pair}"' for pair in dice.sample(pairs, min(25, len(pairs)))],
        "phrase of common words": [f'"{a} {b}"' for a, b in pairwise(plain[:12])],
        "scripts without spaces": cjk,
        "tag": [f"tag:{tag} " for tag in dice.sample(list(tags), min(15, len(tags)))],
        "path": [f"path:{word} " for word in common[:10]],
        "property": ["[type]", "[status:done]", "[confidence:>0.5]", "[type:source] " + (common or [""])[0]],
        "line:(…)": [f"line:({a} {b}) " for a, b in zip(common[:8], common[8:], strict=False)],
        "section:(…)": [f"section:({a} {b}) " for a, b in zip(common[:8], common[8:], strict=False)],
        "tasks": [f"task-todo:{word} " for word in common[:8]],
        "pattern with a word": [f"{word} /{word[:2]}\\w+{word[-1]}/ " for word in rare[:8]],
        "links": ["orphan:", *(f"links-to:{word} " for word in rare[:1]), "rel:supports "],
    }


async def measure(index: VaultIndex, asked: Queries, write: Callable[[str], None]) -> list[str]:
    """Print a line for each kind and return those that miss the target."""
    missed: list[str] = []

    def judge(kind: str, times: Sequence[float], example: str = "") -> None:
        late = percentile(times, 0.95) > TARGET_MS
        missed.extend([kind] if late else [])
        row = f"{kind:<26}{percentile(times, 0.5):>9.2f}{percentile(times, 0.95):>9.2f}   {example}"
        write(f"{row}  MISSED" if late else row)

    for kind, texts in asked.items():
        if texts:
            asks = [partial(index.searcher.search, text, HITS_PER_SEARCH, exact=False) for text in texts]
            judge(kind, await timed(asks), texts[0])
    orders: tuple[Order, ...] = ("name", "modified")
    for order in orders:
        words = asked["very common word"] + asked["common word"]
        ask = partial(index.searcher.search, order=order, exact=False)
        times = await timed([partial(ask, word, HITS_PER_SEARCH) for word in words])
        judge(f"words, by {order}", times)
    times = await timed([partial(index.searcher.count, word) for word in asked["very common word"]])
    write(f"{'exact number, afterwards':<26}{percentile(times, 0.5):>9.2f}{percentile(times, 0.95):>9.2f}")
    return missed


async def timed(asks: Sequence[Callable[[], Awaitable[object]]]) -> list[float]:
    """Return each search's median milliseconds over `ROUNDS`, so that brief other load doesn't count."""
    times: list[list[float]] = [[] for _ in asks]
    for _ in range(ROUNDS):
        for ask, spent in zip(asks, times, strict=True):
            start = time.perf_counter()
            await ask()
            spent.append((time.perf_counter() - start) * 1000)
    return [statistics.median(spent) for spent in times]


def compare_ripgrep(vault: Path, words: Sequence[str], own_ms: float, peers: Path) -> str:
    """Measure ripgrep, which only lists matching files, on ten words; return a line with the result."""
    program = find_ripgrep(peers)
    if program is None:
        return "ripgrep is not installed and could not be downloaded: nothing to compare with"
    times = []
    for word in words[:10]:
        start = time.perf_counter()
        command = [program, "-l", "-i", "-w", "-F", "--", word.strip(), str(vault)]
        subprocess.run(command, capture_output=True, check=False)
        times.append((time.perf_counter() - start) * 1000)
    peer = statistics.median(times)
    return f"ripgrep, the same words    {peer:>9.2f}            {peer / own_ms:.0f}x the app's time"


async def run(vault: Path, work: Path) -> bool:
    """Measure one vault and return whether it meets the target."""
    from app.events import EventBus
    from app.index.vault_index import VaultIndex
    from app.settings import IndexSettings

    index = VaultIndex(vault, work / "cache", IndexSettings(), EventBus())
    await index.open()
    try:
        await index.scan()
        notes = index.notes()
        step = max(1, len(notes) // SAMPLED_NOTES)
        texts = [(vault / note.path.text).read_text("utf-8", "replace") for note in notes[::step]]
        asked = queries(texts, [count.tag for count in index.tags()])
        print(f"\n{vault.name}: {len(notes):,} notes\n{'ms':<26}{'p50':>9}{'p95':>9}", flush=True)
        missed = await measure(index, asked, lambda line: print(line, flush=True))
        words = asked["rare word"] + asked["common word"]
        times = await timed(
            [partial(index.searcher.search, word, HITS_PER_SEARCH, exact=False) for word in words]
        )
        print(compare_ripgrep(vault, words, statistics.median(times), work))
    finally:
        await index.close()
    verdict = f"MISSED by: {', '.join(missed)}" if missed else "met"
    print(f"p95 of each kind at most {TARGET_MS:g} ms: {verdict}")
    return not missed


def main(arguments: list[str]) -> int:
    """Measure the vaults that the arguments name, and return the exit status."""
    parser = argparse.ArgumentParser(description="Measure searches.")
    parser.add_argument("vaults", nargs="*", type=Path)
    parser.add_argument("--full", action="store_true", help="also 100,000 generated notes")
    parser.add_argument("--only", action="store_true", help="only the named vaults")
    parser.add_argument("--check", action="store_true", help="exit with status 1 if the target is missed")
    options = parser.parse_args(arguments)
    met = []
    sizes = [] if options.only else [10_000, 100_000] if options.full else [10_000]
    for size in sizes:
        from tests.benchmarks.vaults import write_vault

        with tempfile.TemporaryDirectory() as work:
            folder = Path(work) / f"generated {size}"
            write_vault(folder, size)
            met.append(asyncio.run(run(folder, Path(work))))
    for vault in options.vaults:
        with tempfile.TemporaryDirectory() as work:
            met.append(asyncio.run(run(vault, Path(work))))
    return 0 if all(met) or not options.check else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
