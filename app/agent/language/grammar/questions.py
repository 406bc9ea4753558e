"""Recognize questions by their words, and replace their pronouns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.meaning.dialog import MAX_RESULTS
from app.agent.language.words.lexicon import Language
from app.answering.question import parse_question
from app.vault.path import NotePath

_WORD = re.compile(r"[^\W\d_]+")


def question_language(text: str, languages: Sequence[Language]) -> Language | None:
    """Return the language of a question; None if the text is not a question."""
    words = [word.casefold() for word in _WORD.findall(text)]
    language = next((candidate for candidate in languages if _asks(words, candidate)), None)
    if language is None and text.rstrip().endswith("?"):
        language = next(
            (candidate for candidate in languages if candidate.words("question_words") & set(words)), None
        )
    return language


def _asks(words: Sequence[str], language: Language) -> bool:
    """Return whether words begin with one that asks, perhaps after a small word: "by when"."""
    leads = language.table("fact_questions")["leads"]
    start = 1 if len(words) > 1 and words[0] in leads else 0
    return bool(words) and words[start] in language.words("asking_words")


def is_question(request: Request) -> bool:
    """Return whether a request asks something, perhaps without a question mark: "is status done"."""
    keys = [token.key for token in request.tokens if token.is_word]
    is_verb = bool(keys) and keys[0] in request.language.table("doubts")["asking_verbs"]
    return request.text.rstrip().endswith("?") or is_verb or _asks(keys, request.language)


def source_note(request: Request) -> tuple[str, str]:
    """Return the note and the question of "in the glossary, what does it say about graphs?", or empty texts.

    The note may also be a listed one, or the one that a pronoun means: "what does the second one say about
    graphs?".
    """
    language, tokens = request.language, request.tokens
    for phrase in language.phrases("scopes", "says"):
        match = phrase.longest_match(tokens, 0)
        words = tokens[match.gap_start : match.gap_end] if match is not None else ()
        pointed = request.set_parser().parse_reference(words) if words else None
        others = request.mentions(tokens[match.gap_end :]) if match is not None else ()
        if any(mention.kind == "note" for mention in others):
            continue  # "what does it say about red in C1?"
        if pointed is not None and pointed.notes.is_single:
            path, name = pointed.notes.notes[0], NotePath.on_disk(pointed.notes.notes[0]).name
            return path, f"{request.text[: words[0].start]}{name}{request.text[words[-1].end :]}"
    start = language.match_prefix(tokens, 0, "scopes", "in_note")
    end = next((at for at in range(start, len(tokens)) if tokens[at].key == ","), 0)
    if not 0 < start < end < len(tokens) - 1 or tokens[end + 1].key not in language.words("asking_words"):
        return "", ""
    named = request.set_parser().find_named(tokens[start:end])
    path = named.notes.notes[0] if named is not None and named.notes.is_single else ""
    return (path, request.text[tokens[end + 1].start :]) if path else ("", "")


def defined_note(request: Request) -> str:
    """Return the note of "who is Kevin Kelly?", which asks what the note is about; else an empty text."""
    start = request.language.match_prefix(request.tokens, 0, "scopes", "definitions")
    words = without_marks_at_end(request.tokens[start:])
    named = request.set_parser().find_named(words) if start and words else None
    return named.notes.notes[0] if named is not None and named.notes.is_single else ""


def listed_source(request: Request) -> tuple[tuple[str, ...], str]:
    """Return the listed notes and the question of "which of them were English?", or empty values."""
    dialog, tokens = request.dialog, request.tokens
    if not dialog.has_list or len(dialog.them) >= MAX_RESULTS:
        return (), ""
    for at in range(1, len(tokens)):
        end = request.language.match_prefix(tokens, at, "refine", "among")
        if at < end < len(tokens):
            return (
                dialog.them,
                f"{request.text[: tokens[at].start].rstrip()} {request.text[tokens[end].start :]}",
            )
    return (), ""


def has_antecedent(request: Request) -> bool:
    """Return whether a noun comes before the pronoun: "when is the workshop, and what does it cost?"."""
    forms, tokens = request.language.table("question_pronouns"), request.tokens
    pronoun = next((at for at, token in enumerate(tokens) if token.key in forms), 0)
    return any(token.key in request.language.words("determiners") for token in tokens[:pronoun])


def with_name_for_pronouns(text: str, name: str, languages: Sequence[Language]) -> str:
    """Replace the pronouns for a note in a question, such as "when was he born?", with the note's name."""
    language = (
        question_language(text.removeprefix(_leading_conjunction(text, languages)), languages) or languages[0]
    )
    forms = language.table("question_pronouns")

    def replacement(match: re.Match[str]) -> str:
        form = forms.get(match[0].casefold())
        return form.replace("{}", name) if form else match[0]

    return _WORD.sub(replacement, text)


def with_topic_of(text: str, previous: str, languages: Sequence[Language]) -> str:
    """Return a question without a topic ("and when?") about the topic of the previous question.

    The question words of the previous question are left out. A question with a topic is returned unchanged.
    """
    if not previous or parse_question(text).words:
        return text
    language = question_language(previous, languages) or languages[0]
    topic = _WORD.sub(
        lambda match: "" if match[0].casefold() in language.words("asking_words") else match[0], previous
    )
    own = text.removeprefix(_leading_conjunction(text, languages)).rstrip(" ?.!")
    return f"{own} {' '.join(topic.split())}"


def _leading_conjunction(text: str, languages: Sequence[Language]) -> str:
    """Return the conjunction that starts a question ("and when …?"), with a space; empty if there is none."""
    first = text.split(" ", 1)[0]
    conjunctions = {phrase.text for language in languages for phrase in language.phrases("and")}
    return f"{first} " if first.casefold().strip(",") in conjunctions else ""
