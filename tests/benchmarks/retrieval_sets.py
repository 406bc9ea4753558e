"""Vaults and questions whose answers are known, for the retrieval benchmark.

There are two sources: extracts of public vaults (MIT license), and pages written for this benchmark in four
languages. Half of the notes, chosen by a checksum of their names, are *seen*: the weights are learned on
questions about them. The other half is used only for checks.

Each question has exactly one right note:

- Keywords and rare words: no other note contains all of them, not even within longer words.
- Names and headings: only one note has the name or heading; other notes may mention it.
- Titles and sentences: they are removed from their note before the search, together with the note's other
  names. No note contains the sentence.

These rules use only the texts of the notes, never a ranking.

To reduce the effect of chance, there are several questions about each note with enough text: for several of
its names, sentences, groups of words and misspellings. In the pages, each sentence is removed and searched
for in turn. The four mixtures of languages contain each topic once in each language. Results about the same
note or topic depend on each other, so confidence intervals are computed over notes and topics
(`RetrievalQuestion.source`).
"""

from __future__ import annotations

import itertools
import random
import re
import tarfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.embeddings.chunker import markdown_to_text
from app.vault.markdown.scan import scan
from tests.support.public_vaults import ARCHIVES

DATA = Path(__file__).parent / "retrieval_data"
LANGUAGES = ("en", "de", "es", "fr")
MAX_NOTES, MAX_QUESTIONS = 1000, 1200
# A kind of question about fewer notes of a vault is left out.
MIN_NOTES = 40
# The largest numbers of questions of one kind about a note.
_MAX_SENTENCES, _MAX_GROUPS, _MAX_TYPOS = 5, 8, 3
# Of a note's sentences, each third is removed and asked, so that most of its text remains.
_SENTENCE_STEP = 3
_MIN_SENTENCE, _MIN_REST, _MIN_NAME = 25, 200, 8
# A title says what a note is about, so a few sentences must be left to recognize it by.
_MIN_TEXT = 80
_EXCLUDED_FOLDERS = ("Templates", "journals")
_SENTENCE = re.compile(r"[^.!?。！？\n]{25,300}[.!?。！？]")
# A fragment of a link or URL is not a sentence.
_MARKUP = re.compile(r"://|\]\(|\[\[")
_WORD = re.compile(r"[^\W\d_]{4,}")
_SEPARATORS = re.compile(r"[-_./]+")
# Logseq writes a page's properties as text.
_NAME_PROPERTY = re.compile(r"(?im)^[ \t]*(?:- )?(?:title|alias|aliases)::(.*)$")


@dataclass(frozen=True)
class RetrievalQuestion:
    """A text and the note that it should find.

    Args:
        kind: The set that the question belongs to.
        text: The query.
        answer: The path of the note in the corpus.
        source: The name of the note or topic.
    """

    kind: str
    text: str
    answer: str
    source: str

    @property
    def is_seen(self) -> bool:
        """Whether the question may be used for training."""
        return is_seen(self.source)


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
    """Yield up to two corpora: notes without titles and some sentences, and unchanged notes."""
    chance = random.Random(4)
    order = list(notes)
    chance.shuffle(order)
    stripped, whole = RetrievalCorpus(f"{name}, without titles", {}), RetrievalCorpus(name, {})
    names = Counter(name.casefold() for path in order for name in _names(path, notes[path]))
    sources: dict[str, str] = {}
    for path in order:
        if len(whole.notes) == MAX_NOTES:
            break
        text = notes[path]
        parsed = scan(text)
        body = text[parsed.body_start :]
        if parsed.is_private or not body.strip():
            continue
        whole.notes[path] = text
        unnamed = _NAME_PROPERTY.sub("", re.sub(r"(?m)^#\s.*$", "", body, count=1))
        rest, sentences = _without_sentences(unnamed)
        if len(markdown_to_text(rest)) < _MIN_TEXT:
            continue
        target = f"n{len(stripped.notes):04}.md"
        stripped.notes[target] = rest
        sources[target] = path
        stripped.questions += [
            RetrievalQuestion("title", name, target, path)
            for name in _names(path, text)
            if len(name) >= _MIN_NAME and names[name.casefold()] == 1
        ]
        stripped.questions += [
            RetrievalQuestion("sentence", sentence, target, path) for sentence in sentences
        ]
    texts = [" ".join(markdown_to_text(text).split()) for text in stripped.notes.values()]
    stripped.questions = [
        question
        for question in stripped.questions
        if question.kind != "sentence" or not any(question.text in text for text in texts)
    ]
    _ask_for_words(stripped, sources, chance)
    _ask_for_names(whole, names, chance)
    for corpus in (stripped, whole):
        corpus.questions = _limited(corpus.questions, chance)
        if corpus.questions:
            yield corpus


def _without_sentences(text: str) -> tuple[str, list[str]]:
    """Remove some of a note's sentences; return the rest and the sentences."""
    matches = list(_SENTENCE.finditer(text))[::_SENTENCE_STEP][:_MAX_SENTENCES]
    rest, sentences = text, []
    for match in reversed(matches):
        shorter = rest[: match.start()] + rest[match.end() :]
        sentence = " ".join(markdown_to_text(match[0]).split())
        if (
            len(sentence) >= _MIN_SENTENCE
            and not _MARKUP.search(sentence)
            and sentence not in sentences
            and len(markdown_to_text(shorter)) >= _MIN_REST
        ):
            rest = shorter
            sentences.append(sentence)
    return rest, sentences


def _title(path: str) -> str:
    return _separated(Path(path).stem)


def _separated(name: str) -> str:
    return " ".join(_SEPARATORS.sub(" ", name).split())


def _names(path: str, text: str) -> list[str]:
    """Return the note's title and its aliases that differ from it in more than case and separators."""
    listed = ",".join(_NAME_PROPERTY.findall(text)).split(",")
    aliases = [*scan(text).aliases, *(name.strip(" \t\r[]") for name in listed)]
    names: dict[str, str] = {}
    for name in (_title(path), *map(_separated, aliases)):
        names.setdefault(name.casefold(), name)
    return [name for name in names.values() if name]


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(markdown_to_text(text))}


class _SubstringIndex:
    """Finds the notes that contain words, also within longer words."""

    def __init__(self, notes: dict[str, str]) -> None:
        # A word may stand only in the source, such as in a link's target, or only in the plain text.
        self._texts = {path: f"{text}\n{markdown_to_text(text)}".casefold() for path, text in notes.items()}
        self._known: dict[str, frozenset[str]] = {}

    def notes_containing(self, words: Collection[str]) -> frozenset[str]:
        """Return the paths of the notes that contain all of `words`."""
        return frozenset.intersection(*(self._notes_containing(word) for word in words))

    def _notes_containing(self, word: str) -> frozenset[str]:
        if word not in self._known:
            self._known[word] = frozenset(path for path, text in self._texts.items() if word in text)
        return self._known[word]


def _ask_for_words(corpus: RetrievalCorpus, sources: dict[str, str], chance: random.Random) -> None:
    """Add questions of three words that only one note contains together.

    They are rather rare words, the same with typos, or a unique word and two frequent ones.
    """
    words = {path: _words(text) for path, text in corpus.notes.items()}
    common = Counter(word for note_words in words.values() for word in note_words)
    substrings = _SubstringIndex(corpus.notes)

    def take(groups: Iterable[tuple[str, ...]], path: str) -> list[tuple[str, ...]]:
        unique = (group for group in groups if substrings.notes_containing(group) == {path})
        return list(itertools.islice(unique, _MAX_GROUPS))

    for path, note_words in words.items():
        rarest_first = sorted(note_words, key=lambda word: (common[word], word))
        # Not the rarest words: what people remember of a note is rarely a unique word.
        recalled = [word for word in rarest_first if common[word] > 2][:8]
        if len(recalled) < 3:
            continue
        groups = list(itertools.combinations(recalled, 3))
        chance.shuffle(groups)
        for group in take(groups, path):
            chosen = chance.sample(group, 3)
            typed = " ".join(_mistyped(word, chance) for word in chosen)
            for kind, text in (("keywords", " ".join(chosen)), ("keywords with typos", typed)):
                corpus.questions.append(RetrievalQuestion(kind, text, path, sources[path]))
        only = [word for word in rarest_first if common[word] == 1]
        frequent = [word for word in reversed(rarest_first) if common[word] > 1][:20]
        chance.shuffle(only)
        with_unique = [(word, *chance.sample(frequent, 2)) for word in only]
        for group in take(with_unique, path):
            corpus.questions.append(RetrievalQuestion("rare word", " ".join(group), path, sources[path]))


def _mistyped(word: str, chance: random.Random) -> str:
    """Return the word with two neighboring letters exchanged, or one omitted."""
    at = chance.randrange(1, len(word) - 1)
    if chance.random() < 0.5:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :]


def _ask_for_names(corpus: RetrievalCorpus, names: Counter[str], chance: random.Random) -> None:
    """Add questions for names: a note's, the same with typos, and its headings."""
    headings = {
        path: {markdown_to_text(heading.text) for heading in scan(text).headings}
        for path, text in corpus.notes.items()
    }
    common = Counter(heading for found in headings.values() for heading in {one.casefold() for one in found})
    for path, found in headings.items():
        title = _title(path)
        if names[title.casefold()] == 1:
            corpus.questions.append(RetrievalQuestion("exact name", title, path, path))
            if any(len(word) > 4 for word in title.split()):
                misspelled = (_mistyped_name(title, chance) for _ in range(_MAX_TYPOS))
                corpus.questions += [
                    RetrievalQuestion("name with typos", typed, path, path)
                    for typed in dict.fromkeys(misspelled)
                    if typed.casefold() not in names
                ]
        corpus.questions += [
            RetrievalQuestion("heading", heading, path, path)
            for heading in sorted(found)
            if len(heading) >= _MIN_NAME
            and common[heading.casefold()] == 1
            and heading.casefold() not in names
        ]


def _mistyped_name(title: str, chance: random.Random) -> str:
    return " ".join(_mistyped(word, chance) if len(word) > 4 else word for word in title.split())


def _limited(questions: list[RetrievalQuestion], chance: random.Random) -> list[RetrievalQuestion]:
    """Return at most `MAX_QUESTIONS` of each kind, and none of a kind about fewer than `MIN_NOTES` notes."""
    selected: list[RetrievalQuestion] = []
    for kind in dict.fromkeys(question.kind for question in questions):
        of_kind = [question for question in questions if question.kind == kind]
        if len({question.source for question in of_kind}) >= MIN_NOTES:
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
    """Yield a corpus for each language and removed sentence, and for four mixtures of the languages.

    In a mixture, each topic has a page in one language only.
    """
    by_topic = {language: {page.topic: page for page in page_list} for language, page_list in written.items()}
    for language, page_list in written.items():
        for at in range(max(len(page.sentences) for page in page_list)):
            corpus = RetrievalCorpus(f"pages in {language}", {})
            for page in page_list:
                removed = at % len(page.sentences)
                corpus.notes[f"{page.title}.md"] = _without(page, removed)
                for asked in written:
                    about = _about(page, by_topic[asked][page.topic], removed, asked == language)
                    if at == 0:
                        texts = about
                    elif asked == language and removed == at:
                        texts = about[:1]  # the removed sentence
                    else:
                        texts = []
                    corpus.questions += [
                        RetrievalQuestion(f"{asked} → {language}", text, f"{page.title}.md", page.topic)
                        for text in texts
                    ]
            yield corpus
    for shift in range(len(LANGUAGES)):
        mixed = RetrievalCorpus("pages in four languages", {})
        for at, topic in enumerate(by_topic["en"]):
            language = LANGUAGES[(at + shift) % len(LANGUAGES)]
            page = by_topic[language][topic]
            removed = shift % len(page.sentences)
            mixed.notes[f"{page.title}.md"] = _without(page, removed)
            for asked in written:
                kind = "same language" if asked == language else "another language"
                mixed.questions += [
                    RetrievalQuestion(kind, text, f"{page.title}.md", topic)
                    for text in _about(page, by_topic[asked][topic], removed, asked == language)
                ]
        # A title may be the same in several languages.
        mixed.questions = list(dict.fromkeys(mixed.questions))
        yield mixed


def _without(page: TopicPage, removed: int) -> str:
    return " ".join(sentence for at, sentence in enumerate(page.sentences) if at != removed)


def _about(page: TopicPage, asked: TopicPage, removed: int, is_same: bool) -> list[str]:
    """Return questions for a page without one sentence; `asked` is the page in the asker's language."""
    if is_same:
        # The other sentences are in the page and would be found by any of their words.
        return [page.sentences[removed], *asked.questions]
    return [asked.title, *asked.sentences, *asked.questions]
