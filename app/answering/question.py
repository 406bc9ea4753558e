"""Parse questions into the stems of their topic words and the expected kind of answer."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from app.index.normalization import UNSPACED, fold
from app.paths import resources_folder

if TYPE_CHECKING:
    import snowballstemmer

# A number with dots, such as a version or a date, is one word.
_WORD = re.compile(r"[^\W_]*\d(?:\.\d+)+|[^\W_]+")
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_PART = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")
_MIN_SENTENCE = 8
"""Minimum number of letters of a script without spaces that count as a sentence, not as words."""
_MAX_CACHED_STEMS = 50_000
_NAME = re.compile(r"(?<![.!?…:]\s)(?<!^)\b[A-ZÀ-ÖØ-Þ][\w'’-]+")
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|nineteen|twenty|thirty|forty|fifty|sixty"
    r"|hundred|thousand|million|half|once|twice|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|hundert|tausend)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:1\d{3}|20\d{2})\b|\b\d{1,2}[:.]\d{2}\b|\b(?:january|february|march|april|june|july|august|september|october|november"
    r"|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|century|januar|februar|märz|mai|juni|juli"
    r"|oktober|dezember|o'clock|today|yesterday|every (?:day|week|year))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AnswerKind:
    """A kind of answer, with the patterns that match questions asking for it and texts containing it."""

    name: str
    question: re.Pattern[str]
    answer: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question.

    Attributes:
        text: The question as asked.
        topic: The question without the words of scripts without spaces that do not describe the topic.
        words: The distinct stems of the topic words, in order.
        kind: The expected kind of answer, or None if unknown.
        language: The code of the question's language.
    """

    text: str
    topic: str
    words: tuple[str, ...]
    kind: AnswerKind | None
    language: str

    def stems_in(self, text: str) -> list[str]:
        """Return the stems of the words in another text, in the question's language."""
        return stems(text, self.language)

    def is_answered_by(self, text: str) -> bool:
        """Return whether a text contains the expected kind of answer; False if the kind is unknown.

        For a person or a place, the text must contain a name that is not in the question.
        """
        if self.kind is None:
            return False
        if self.kind.name in ("person", "place"):
            question_stems = set(stems(self.text, self.language))
            return any(
                not question_stems.issuperset(stems(name, self.language)) for name in _NAME.findall(text)
            )
        return self.kind.answer.search(text) is not None


def parse_question(text: str) -> ParsedQuestion:
    """Parse a question in the language with the most stop words in it, English on a tie."""
    described = _describe_topic(text)
    folded = _words(described)
    data = _load_languages()
    code = max(
        data, key=lambda language: (sum(word in data[language].stop for word in folded), language == "en")
    )
    language = data[code]
    # The first match wins, because a nested question comes later.
    matches = [(match.start(), kind) for kind in language.kinds if (match := kind.question.search(text))]
    kind = min(matches, key=lambda match: match[0])[1] if matches else None
    topic = [word for word in folded if word not in language.stop]
    return ParsedQuestion(text, described, tuple(dict.fromkeys(_stemmed(topic, code))), kind, code)


def asks_for_time(text: str) -> bool:
    """Return whether a question asks for a date or a time."""
    kind = parse_question(text).kind
    return kind is not None and kind.name == "time"


def stems(text: str, language: str) -> list[str]:
    """Return the stem of each word of a text, in order."""
    return _stemmed(_words(text), language)


def stop_words(language: str) -> frozenset[str]:
    """Return the words that say nothing about the topic of a question."""
    return _load_languages()[language].stop


def is_unspaced_sentence(text: str) -> bool:
    """Return whether a text is a question or a sentence in a script without spaces: "什么是笔记？"."""
    runs = _UNSPACED_RUN.findall(text)
    letters = sum(map(len, runs))
    others = sum(map(str.isalnum, text)) - letters
    if letters < 2 or others > 2 * letters:
        return False
    asks = _unspaced_words("asks").search(text) or text.rstrip().endswith(("？", "?", "か", "か。"))
    return bool(asks) or (letters >= _MIN_SENTENCE and letters > others)


def _describe_topic(text: str) -> str:
    """Return a question without the words of scripts without spaces that do not describe its topic.

    Particles also occur inside words (目的地), so they are dropped only next to such a word or at the end.
    """
    first, *others = _unspaced_words("asks", "stop").split(text)
    leading, trailing = _particles()
    pieces = [first, *(leading.sub("", piece) for piece in others)]
    return " ".join(trailing.sub("", piece) for piece in pieces)


@cache
def _particles() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns for particles before and after a part of a question of at least two letters."""
    words = _load_words()["unspaced"]
    leading, trailing = "".join(words["leading"]), "".join(words["trailing"])
    return (
        re.compile(f"^[{leading}](?=[{UNSPACED}]{{2}})"),
        re.compile(f"(?<=[{UNSPACED}]{{2}})[{trailing}]+(?=[^{UNSPACED}]*$)"),
    )


def _words(text: str) -> list[str]:
    """Return the words of a text, casefolded; for scripts without spaces, the pairs of adjacent letters."""
    words: list[str] = []
    for word in _WORD.findall(text.casefold()):
        for part in _PART.findall(word):
            is_run = len(part) > 2 and _UNSPACED_RUN.match(part)
            words += map("".join, pairwise(part)) if is_run else [part]
    return words


def _stemmed(words: list[str], language: str) -> list[str]:
    return [_stem(word, language) for word in words]


@lru_cache(maxsize=_MAX_CACHED_STEMS)
def _stem(word: str, language: str) -> str:
    # Cached, because the stemmer is slow and the passages of a vault repeat their words.
    return fold(_stemmer(_load_languages()[language].stemmer).stemWord(word))


@cache
def _stemmer(name: str) -> snowballstemmer.stemmer:
    import snowballstemmer  # Loads every language, so it is imported on demand.

    return snowballstemmer.stemmer(name)


@dataclass(frozen=True, slots=True)
class _LanguageData:
    stemmer: str
    stop: frozenset[str]
    kinds: tuple[AnswerKind, ...]


@cache
def _load_languages() -> dict[str, _LanguageData]:
    return {
        code: _LanguageData(entry["stems"], frozenset(entry["stop"]), tuple(_parse_kinds(entry["kinds"])))
        for code, entry in _load_words().items()
        if "stems" in entry
    }


@cache
def _unspaced_words(*lists: str) -> re.Pattern[str]:
    """Return a pattern for these lists of words in scripts without spaces."""
    words = _load_words()["unspaced"]
    return re.compile("|".join(word for name in lists for word in words[name]))


@cache
def _load_words() -> dict[str, dict[str, Any]]:
    return tomllib.loads((resources_folder() / "answers" / "words.toml").read_text("utf-8"))


def _parse_kinds(data: dict[str, dict[str, list[str]]]) -> Iterator[AnswerKind]:
    fixed = {"time": _TIME, "number": _NUMBER}
    for name, patterns in data.items():
        question = re.compile(rf"\b(?:{'|'.join(patterns['asks'])})", re.IGNORECASE)
        words = "|".join(map(re.escape, patterns.get("marks", ())))
        answer = fixed.get(name) or re.compile(rf"\b(?:{words})\b" if words else r"(?!)", re.IGNORECASE)
        yield AnswerKind(name, question, answer)
