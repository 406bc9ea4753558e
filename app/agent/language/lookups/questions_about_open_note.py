"""Recognize questions about a value of the note on the screen: "what's the budget?", "places left?"."""

from __future__ import annotations

from collections.abc import Mapping

from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.tokens import span_text
from app.vault.path import name_key

_SCORE = 0.97
_TABLE = "own_values"


def parse_own_value(request: Request, properties_of: PropertiesOf) -> Reading | None:
    """Return the property of the note in talk that a question names and nothing else, or None.

    A question after a list is about the list unless it says "here". A question without a verb needs its mark.
    The note of "is this one paid?" may lack the property.

    Args:
        request: The request.
        properties_of: Returns the properties of the note at a path.
    """
    language, dialog = request.language, request.dialog
    words = without_marks_at_end(request.tokens)
    if "properties_of" not in request.allowed or not words:
        return None
    start = language.match_prefix(words, 0, _TABLE, "leads")
    ends = (at for at in range(start + 1, len(words)) if language.matches_phrase(words[at:], _TABLE, "ends"))
    end = next(ends, len(words))
    this = [at for at in range(len(words)) if language.match_prefix(words, at, "this") > at]
    if this and this[0] > start:
        end = min(end, this[0] - (words[this[0] - 1].key in language.table(_TABLE)["of"]))
    says_here = bool(this)
    if this and not start:
        rest = words[language.match_prefix(words, this[0], "this") :]
        if rest and not language.matches_phrase(rest, _TABLE, "ends"):
            return None  # "deadline here is Friday"
    if not says_here and (dialog.has_list or not (start or request.text.rstrip().endswith("?"))):
        return None
    name = span_text(request.text, words[start:end])
    notes = dialog.this if says_here else (*dialog.it, *dialog.this)
    missing = request.vocabulary.find_property(name) if says_here else None
    for path in notes[:2]:
        if key := _named_property(request, name, properties_of(path)) or missing:
            step = PipelineStep("properties_of", NoteSet(notes=(path,)), {"about": key})
            return Reading((step,), _SCORE, language=language.code)
    return None


def _named_property(request: Request, name: str, properties: Mapping[str, object]) -> str:
    """Return the property of a note that words name exactly or by a synonym; empty without one."""
    known = {name_key(key): key for key, value in properties.items() if value not in (None, "", [])}
    key = name_key(name)
    synonym = request.language.property_name(key, lambda word: known.get(name_key(word)))
    names = (known.get(key), known.get(key.replace(" ", "-")), synonym if synonym in properties else None)
    return next(filter(None, names), "")
