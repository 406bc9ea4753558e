"""Find the properties that answer two questions in one: "who wrote it and when was it published?"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.agent.language.grammar.linked_facts import named_notes
from app.agent.language.grammar.note_facts import PropertiesOf, fact_in, find_fact, present_values
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import Reading, as_tuple
from app.agent.language.words.tokens import span_text
from app.agent.language.words.vault_words import property_label


def split_questions(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the ways to split a question at "and" or a comma: "who wrote it and when was it published?"."""
    tokens, language = without_marks_at_end(request.tokens), request.language
    for at in range(1, len(tokens) - 1):
        start = at + (tokens[at].key == ",")
        end = max(start, language.match_prefix(tokens, start, "and"))
        if at < end < len(tokens):
            yield span_text(request.text, tokens[:at]), span_text(request.text, tokens[end:])


def join_facts(
    parts: tuple[Request, Request], properties_of: PropertiesOf, dialog: DialogState
) -> Reading | None:
    """Return the reading that answers two questions about the same note, or None.

    Either of the questions names the note, or it is the note that the conversation is about. The second one
    may be about the note in the first answer: "who is the owner, and what is her email?".
    """
    for first, second in (parts, parts[::-1]):
        known = find_fact(first, properties_of)
        target = known.reading.last.target if known is not None else None
        if known is None or target is None:
            continue
        values = present_values(properties_of, target.notes, known.reading.last.arguments["about"])
        links = tuple(property_label(str(text)) for value in values for text in as_tuple(value))
        about_note = replace(dialog, focus=target.notes, open_note=target.notes[0], asked="", is_lost=False)
        other = find_fact(replace(second, dialog=about_note), properties_of)
        if other is None and len(linked := named_notes(second, links)) == 1 and second is parts[1]:
            other = fact_in(second, linked, without_marks_at_end(second.tokens), properties_of, 1)
        elif other is not None and other.reading.last.target != target:
            continue
        if other is None or other.reading.last == known.reading.last:
            continue
        facts = (known, other) if first is parts[0] else (other, known)
        return replace(known.reading, steps=tuple(fact.reading.last for fact in facts))
    return None
