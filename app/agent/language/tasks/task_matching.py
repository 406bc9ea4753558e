"""Match the words of requests with the tasks of notes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache, lru_cache

from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.lexicon import Language, languages
from app.agent.language.words.tokens import Token, span_text, tokenize
from app.answering.question import stems, stop_words
from app.vault.markdown.tasks import task_facts
from app.vault.path import NotePath

TASK_BOX = re.compile(r"^([\s>]*(?:[-*+]|\d+[.)])\s+)\[.\]")
TASK_FIELDS = {"open": "task-todo", "done": "task-done"}
"""The fields of the search language for tasks, by state."""

_WORD = re.compile(r"\w+")
_PARTICIPLE = re.compile(
    r"(?:(ab|an|auf|aus|bei|ein|nach|um|vor|weg|zu|zurück)?ge|(?=be|ver|er|ent|zer))(\w{2,}?)(?:e?t|en)"
)
"""A German participle: "abgeholt", "besorgt"."""
_MIN_TASK_SHARE = 0.5
"""The minimum share of the requested words that a matching task contains."""
_NAME_SHARE = 0.5
"""How much a word counts that only the name of the task's note contains."""
_FORM_SHARE = 0.7
"""How much a word counts of which the task contains only another form."""


def task_text(line: str) -> str:
    """Return the text of a task's line without its box."""
    return TASK_BOX.sub("", line).strip()


def days_within(task: str, days: str) -> list[str]:
    """Return those of `days`, a day or a range `first..last`, on which an open task is due.

    For a completed task, and for a task without a due date, these are the days that it names.
    """
    first, _, last = days.partition("..")
    box = TASK_BOX.match(task)
    due = task_facts(task_text(task)).due if box is not None and box[0].endswith("[ ]") else None
    named = [due.isoformat()] if due is not None else ISO_DAY.findall(task)
    return [day for day in named if first <= day <= (last or first)]


def field_of_tasks(action: str) -> str:
    """Return the search field of the tasks that an action changes: completed ones for reopening."""
    return TASK_FIELDS["done" if action == "reopen_task" else "open"]


def names_task(words: str, text: str, language: str) -> bool:
    """Return whether a task's text contains all content words, perhaps in other forms.

    Return False if there are none.
    """
    wanted = content_words(words)
    known = _WORD.findall(task_facts(text).text.casefold())
    return bool(wanted) and all(_word_share(known, word, language) for word in wanted)


def named_parts(words: str, language: Language) -> list[str]:
    """Return the parts of words for tasks, split at commas and conjunctions: "the straw and the roof"."""
    tokens = tokenize(words, language.contractions)
    parts: list[list[Token]] = [[]]
    end = 0
    for at, token in enumerate(tokens):
        if at < end:
            continue
        end = language.match_prefix(tokens, at, "and")
        if end > at or token.key in (",", ";"):
            parts.append([])
        elif token.key not in language.words("task_nouns"):
            parts[-1].append(token)
    return [
        part[0].value if len(part) == 1 else span_text(words, tuple(part))
        for part in parts
        if any(token.kind != "mark" for token in part)
    ]


def says_not(words: str, language: Language) -> bool:
    """Return whether words for tasks leave one out: "the straw, but not the roof"."""
    tokens = tokenize(words, language.contractions)
    return language.has_phrase(tokens, "not")


def content_words(words: str) -> set[str]:
    """Return the words of a text that are no function words of any language."""
    return set(_WORD.findall(words.casefold())) - _plain_words()


@cache
def _plain_words() -> frozenset[str]:
    return frozenset[str]().union(
        *(language.function_words() | stop_words(language.code) for language in languages())
    )


def matching_tasks(words: str, tasks: Sequence[tuple[str, str]], language: str) -> list[tuple[str, str]]:
    """Return the tasks that share the most words with `words`, at least half of them.

    If the text of some of the tasks is exactly `words`, return only those.

    Args:
        words: The words in the request.
        tasks: The paths of notes, each with the line of a task.
        language: The code of the request's language.
    """
    wanted = content_words(words) or set(_WORD.findall(words.casefold()))
    shares = [share_of_task(wanted, path, task_text(line), language) for path, line in tasks]
    best = max(shares, default=0.0)
    if best < _MIN_TASK_SHARE:
        return []
    matches = [task for task, share in zip(tasks, shares, strict=True) if share == best]
    exact = [task for task in matches if task_text(task[1]).casefold() == words.casefold()]
    return exact or matches


def share_of_task(words: Collection[str], path: str, text: str, language: str) -> float:
    """Return the share of words that a task contains.

    Other forms of a word count less than the word, and words in the name of the task's note count half: after
    "I repotted the blueberry", the task "Repot the bigger one" in the note Blueberry is meant.
    """
    own, name = (_WORD.findall(part.casefold()) for part in (text, NotePath.on_disk(path).name))
    found = [
        _word_share(own, word, language) or _NAME_SHARE * _word_share(name, word, language) for word in words
    ]
    return sum(found) / len(words or "-")


def _word_share(words: Sequence[str], word: str, language: str) -> float:
    """Return how much of `word` is among the words: all of it, or less if only another form of it is."""
    if word in words:
        return 1.0
    stem = _stem(word, language)
    return _FORM_SHARE * any(_stem(known, language) == stem for known in words)


def word_stems(text: str, language: str) -> set[str]:
    """Return the stems of the words of a text, those of a past form as those of its verb."""
    return {stem for word in _WORD.findall(text.casefold()) if word != "s" for stem in _stem(word, language)}


@lru_cache(maxsize=100_000)
def _stem(word: str, language: str) -> tuple[str, ...]:
    # Every request is compared with the words of all tasks, and most of these recur.
    known = next((own.table("past_forms") for own in languages() if own.code == language), {})
    participle = _PARTICIPLE.fullmatch(word) if language == "de" else None
    verb = known.get(word) or (f"{participle[1] or ''}{participle[2]}en" if participle else word)
    return tuple(stems(verb, language))
