"""Vaults and questions whose answers are known, for the retrieval benchmark.

There are two sources: extracts of public vaults (MIT license), and pages written for this benchmark in four
languages. Half of the notes, chosen by a checksum of their names, are *seen*: the weights are learned on
questions about them. The other half is used only for checks.
"""

from __future__ import annotations

import random
import re
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.embeddings.chunker import markdown_to_text
from app.vault.markdown.scan import scan
from tests.support.public_vaults import ARCHIVES

DATA = Path(__file__).parent / "retrieval_data"
LANGUAGES = ("en", "de", "es", "fr")
MAX_NOTES, MIN_QUESTIONS, MAX_QUESTIONS = 1000, 40, 240
_MIN_BODY, _MIN_REST, _MIN_NAME = 300, 200, 8
_EXCLUDED_FOLDERS = ("Templates", "journals")
_SENTENCE = re.compile(r"[^.!?。！？\n]{25,300}[.!?。！？]")
_WORD = re.compile(r"[^\W\d_]{4,}")
_SEPARATORS = re.compile(r"[-_./]+")


@dataclass(frozen=True)
class RetrievalQuestion:
    """A text and the note that it should find; `kind` names the set that it belongs to."""

    kind: str
    text: str
    answer: str
    is_seen: bool


@dataclass
class RetrievalCorpus:
    """A vault as texts by path, and the questions about it."""

    name: str
    notes: dict[str, str]
    questions: list[RetrievalQuestion] = field(default_factory=list)


@dataclass(frozen=True)
class TopicPage:
    """A page on a topic in one language: sentences, and questions that it answers."""

    topic: str
    title: str
    sentences: tuple[str, ...]
    questions: tuple[str, ...]


def is_seen(name: str) -> bool:
    """Return whether questions about the note or topic with this name may be used for training."""
    return zlib.crc32(name.encode()) % 2 == 0


def corpora(vaults: Sequence[Path]) -> Iterator[RetrievalCorpus]:
    """Yield every corpus: of the folders `vaults` or else of the shipped extracts, and of the pages."""
    if vaults:
        for folder in vaults:
            files = sorted(path for path in folder.rglob("*.md") if "/." not in str(path))
            yield from of_vault(
                folder.name, {str(p.relative_to(folder)): _text(p.read_bytes()) for p in files}
            )
    else:
        for name, notes in sorted(_read_archives().items()):
            yield from of_vault(name, notes)
    yield from of_pages({language: pages(language) for language in LANGUAGES})


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _read_archives() -> dict[str, dict[str, str]]:
    """Return the notes of each public vault by path, without templates, journals and root notes."""
    vaults: dict[str, dict[str, str]] = {}
    for archive in ARCHIVES:
        with tarfile.open(archive) as tar:
            for member in sorted(tar, key=lambda member: member.name):
                vault, _, path = member.name.partition("/")
                top, slash, _ = path.partition("/")
                if (
                    path.endswith(".md")
                    and slash
                    and top not in _EXCLUDED_FOLDERS
                    and (file := tar.extractfile(member))
                ):
                    vaults.setdefault(vault, {})[path] = _text(file.read())
    return vaults


# Vaults


def of_vault(name: str, notes: dict[str, str]) -> Iterator[RetrievalCorpus]:
    """Yield up to two corpora: notes without titles and first sentences, and unchanged notes."""
    chance = random.Random(4)
    order = list(notes)
    chance.shuffle(order)
    stripped, whole = RetrievalCorpus(f"{name}, without titles", {}), RetrievalCorpus(name, {})
    for path in order:
        if len(whole.notes) == MAX_NOTES:
            break
        text = notes[path]
        parsed = scan(text)
        body = text[parsed.body_start :]
        if parsed.is_private or not body.strip():
            continue
        whole.notes[path] = text
        untitled = re.sub(r"(?m)^#\s.*$", "", body, count=1)
        sentence = _SENTENCE.search(untitled)
        if sentence is None or len(untitled) < _MIN_BODY or len(Path(path).stem) < _MIN_NAME:
            continue
        rest = untitled[: sentence.start()] + untitled[sentence.end() :]
        if len(markdown_to_text(rest)) >= _MIN_REST:
            target = f"n{len(stripped.notes):04}.md"
            stripped.notes[target] = rest
            title, seen = _title(path), is_seen(path)
            stripped.questions.append(RetrievalQuestion("title", title, target, seen))
            stripped.questions.append(
                RetrievalQuestion("first sentence", markdown_to_text(sentence[0]), target, seen)
            )
    _ask_for_words(stripped, chance)
    _ask_for_names(whole, chance)
    for corpus in (stripped, whole):
        corpus.questions = _limited(corpus.questions, chance)
        if corpus.questions:
            yield corpus


def _title(path: str) -> str:
    return " ".join(_SEPARATORS.sub(" ", Path(path).stem).split())


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(markdown_to_text(text))}


def _ask_for_words(corpus: RetrievalCorpus, chance: random.Random) -> None:
    """Add questions from a few words of each note: rare ones, the same with typos, and a unique one."""
    words = {path: _words(text) for path, text in corpus.notes.items()}
    common = Counter(word for note_words in words.values() for word in note_words)
    seen = {question.answer: question.is_seen for question in corpus.questions}
    for path, note_words in words.items():
        rarest_first = sorted(note_words, key=lambda word: (common[word], word))
        # Not the rarest words: what people remember of a note is rarely a unique word.
        recalled = [word for word in rarest_first if common[word] > 2][:8]
        if len(recalled) < 3:
            continue
        only = [word for word in rarest_first if common[word] == 1]
        frequent = sorted(note_words, key=lambda word: (-common[word], word))[:20]
        for _ in range(2):
            chosen = chance.sample(recalled, 3)
            corpus.questions.append(RetrievalQuestion("keywords", " ".join(chosen), path, seen[path]))
            typed = " ".join(_mistyped(word, chance) for word in chosen)
            corpus.questions.append(RetrievalQuestion("keywords with typos", typed, path, seen[path]))
            if only:
                chosen = [chance.choice(only), *chance.sample(frequent, min(2, len(frequent)))]
                corpus.questions.append(RetrievalQuestion("rare word", " ".join(chosen), path, seen[path]))


def _mistyped(word: str, chance: random.Random) -> str:
    """Return the word with two neighboring letters exchanged, or one omitted."""
    at = chance.randrange(1, len(word) - 1)
    if chance.random() < 0.5:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :]


def _ask_for_names(corpus: RetrievalCorpus, chance: random.Random) -> None:
    """Add questions for names: a note's, the same with typos, and one of its headings."""
    for path, text in corpus.notes.items():
        title, seen = _title(path), is_seen(path)
        corpus.questions.append(RetrievalQuestion("exact name", title, path, seen))
        if any(len(word) > 4 for word in title.split()):
            typed = " ".join(_mistyped(word, chance) if len(word) > 4 else word for word in title.split())
            corpus.questions.append(RetrievalQuestion("name with typos", typed, path, seen))
        headings = [markdown_to_text(heading.text) for heading in scan(text).headings]
        long = [
            heading
            for heading in headings
            if len(heading) >= _MIN_NAME and heading.casefold() != title.casefold()
        ]
        if long:
            corpus.questions.append(RetrievalQuestion("heading", chance.choice(long), path, seen))


def _limited(questions: list[RetrievalQuestion], chance: random.Random) -> list[RetrievalQuestion]:
    """Return at most `MAX_QUESTIONS` of each kind, and none of a kind with fewer than `MIN_QUESTIONS`."""
    selected: list[RetrievalQuestion] = []
    for kind in dict.fromkeys(question.kind for question in questions):
        of_kind = [question for question in questions if question.kind == kind]
        if len(of_kind) >= MIN_QUESTIONS:
            selected += chance.sample(of_kind, min(MAX_QUESTIONS, len(of_kind)))
    return selected


# Pages


def pages(language: str) -> list[TopicPage]:
    """Return the pages in one language, in the order of their topics."""
    text = (DATA / f"pages.{language}.txt").read_text("utf-8")
    page_list = []
    for part in re.split(r"(?m)^= ", text)[1:]:
        topic, title, body, *questions = part.strip().split("\n")
        sentences = re.split(r"(?<=[.!?]) ", body)
        page_list.append(
            TopicPage(
                topic, title, tuple(sentences), tuple(question.removeprefix("? ") for question in questions)
            )
        )
    return page_list


def of_pages(written: dict[str, list[TopicPage]]) -> Iterator[RetrievalCorpus]:
    """Yield a corpus for each language, and one in which each topic has a page in one language only."""
    by_topic = {language: {page.topic: page for page in page_list} for language, page_list in written.items()}
    for language, page_list in written.items():
        corpus = RetrievalCorpus(f"pages in {language}", {})
        for page in page_list:
            corpus.notes[f"{page.title}.md"] = " ".join(page.sentences[1:])
            for asked in written:
                corpus.questions += _about(page, by_topic[asked][page.topic], asked, language)
        yield corpus
    mixed = RetrievalCorpus("pages in four languages", {})
    for at, topic in enumerate(by_topic["en"]):
        language = LANGUAGES[at % len(LANGUAGES)]
        page = by_topic[language][topic]
        mixed.notes[f"{page.title}.md"] = " ".join(page.sentences[1:])
        for asked in written:
            kind = "same language" if asked == language else "another language"
            for question in _about(page, by_topic[asked][topic], asked, language):
                mixed.questions.append(
                    RetrievalQuestion(kind, question.text, question.answer, question.is_seen)
                )
    yield mixed


def _about(page: TopicPage, asked: TopicPage, spoken: str, language: str) -> Iterator[RetrievalQuestion]:
    """Yield questions in the language `spoken` for a page in `language`; `asked` is its translation."""
    answer, seen = f"{page.title}.md", is_seen(page.topic)
    for question in asked.questions:
        yield RetrievalQuestion(f"{spoken} → {language}", question, answer, seen)
    # The first sentence is not in the page; the others would be found by any of their words.
    sentences = page.sentences[:1] if spoken == language else (asked.title, *asked.sentences)
    for sentence in sentences:
        yield RetrievalQuestion(f"{spoken} → {language}", sentence, answer, seen)
