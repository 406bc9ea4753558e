"""Detect a vault's languages locally, from a sample of its notes.

As with vectors, private notes and those that a rule hides from models are left out. A worker process of the
app identifies the languages and ends afterwards.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.embeddings import EmbedderUnavailableError
from app.embeddings.chunker import markdown_to_text
from app.embeddings.model_config import LANGUAGES, SentenceModelConfig
from app.embeddings.worker_process import WorkerProcess
from app.encoding import encodable
from app.errors import ScriptoriumError
from app.events import Event
from app.index.records import NoteRecord
from app.processes.worker import WorkerLostError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.privacy import is_private
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.index.vault_index import VaultIndex
    from app.vault.store import NoteStore

log = logging.getLogger(__name__)

ENGLISH = "en"
SAMPLE_NOTES = 200
MAX_DETECTED_CHARS = 1_500
BATCH_NOTES = 20
# Fewer notes are not representative, and a smaller share does not justify another model.
MIN_NOTES, MIN_SHARE = 5, 0.15
# A text with a lower probability of English counts as another language; names and code confuse the library.
MIN_ENGLISH_PROBABILITY = 0.2
# Languages that the library confuses in short texts, with the language to count instead.
_LANGUAGE_GROUPS = {"pcm": ENGLISH, "sco": ENGLISH, "yue": "zh", "wuu": "zh"}
_LETTER = re.compile(r"[^\W\d_]")
_DENSE_LETTER = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Texts with fewer letters are skipped; a Chinese, Japanese, Korean or Thai letter counts as four.
_MIN_LETTERS, _DENSE_LETTER_WEIGHT = 40, 4


@dataclass(frozen=True, slots=True)
class VaultLanguages:
    """The languages of a vault's notes.

    Attributes:
        notes: The number of sampled notes with enough text.
        shares: The share of these notes in each language (ISO 639 code), largest first; empty if there are
            too few notes.
    """

    notes: int
    shares: tuple[tuple[str, float], ...]

    @property
    def non_english_share(self) -> float:
        """The share of notes in languages other than English."""
        return sum(share for language, share in self.shares if language != ENGLISH)

    @property
    def need_multilingual(self) -> bool:
        """True if enough of the notes are in languages that the English model does not support."""
        return self.notes >= MIN_NOTES and self.non_english_share >= MIN_SHARE


@dataclass(frozen=True, slots=True)
class LanguagesMeasured(Event):
    """Published when the languages of the vault are known."""

    languages: VaultLanguages


async def measure_languages(
    index: VaultIndex, store: NoteStore, is_excluded: Callable[[NotePath], bool], *, threads: int = 1
) -> VaultLanguages | None:
    """Identify the languages of a sample of the notes.

    Args:
        index: The index of the notes.
        store: Reads the notes.
        is_excluded: Returns whether a rule hides a note from models.
        threads: Processor threads that the worker may use.

    Returns:
        The languages, or None if the worker can't be started or fails.
    """

    def is_allowed(record: NoteRecord) -> bool:
        return not record.private and not is_excluded(record.path)

    allowed = [record for record in index.notes() if is_allowed(record)]
    # By hash, to sample the same notes each time, spread over the vault.
    allowed.sort(key=lambda record: hashlib.sha256(str(record.path).encode("utf-8", "replace")).digest())
    texts = await asyncio.to_thread(_sample_texts, allowed, store)
    if len(texts) < MIN_NOTES:
        return VaultLanguages(len(texts), ())
    try:
        worker = await WorkerProcess.start(SentenceModelConfig(LANGUAGES), threads)
    except EmbedderUnavailableError as error:
        log.warning("the languages of the vault can't be detected: %s", error.message)
        return None
    try:
        counts: Counter[str] = Counter()
        for start in range(0, len(texts), BATCH_NOTES):
            rows = await worker.encode(texts[start : start + BATCH_NOTES])
            counts.update(_main_language(dict(zip(worker.labels, row.tolist(), strict=True))) for row in rows)
    except (EmbedderUnavailableError, WorkerLostError) as error:
        log.warning("the languages of the vault can't be detected: %s", error)
        return None
    finally:
        await worker.kill()
    shares = tuple((language, count / len(texts)) for language, count in counts.most_common())
    return VaultLanguages(len(texts), shares)


def _main_language(probabilities: dict[str, float]) -> str:
    merged: dict[str, float] = {}
    for language, probability in probabilities.items():
        group = _LANGUAGE_GROUPS.get(language, language)
        merged[group] = merged.get(group, 0.0) + probability
    return (
        ENGLISH
        if merged.get(ENGLISH, 0.0) >= MIN_ENGLISH_PROBABILITY
        else max(merged, key=merged.__getitem__)
    )


def _sample_texts(records: Sequence[NoteRecord], store: NoteStore) -> list[str]:
    """Return the beginnings of up to `SAMPLE_NOTES` notes with enough text; runs in another thread.

    Notes that can't be read, or that have just become private, are skipped.
    """
    texts: list[str] = []
    for record in records:
        if len(texts) >= SAMPLE_NOTES:
            break
        try:
            content = store.read(record.path)
        except ScriptoriumError as error:
            log.debug("%s is skipped in language detection: %s", record.path, error.message)
            continue
        # The text on disk may be newer than the index.
        if is_private(content):
            continue
        text = decode_lossy(content)
        body = markdown_to_text(text[read_frontmatter(text).body_start :][: 2 * MAX_DETECTED_CHARS])[
            :MAX_DETECTED_CHARS
        ]
        if _count_letters(body) >= _MIN_LETTERS:
            texts.append(encodable(body))
    return texts


def _count_letters(text: str) -> int:
    dense_letters = len(_DENSE_LETTER.findall(text))
    return len(_LETTER.findall(text)) + (_DENSE_LETTER_WEIGHT - 1) * dense_letters
