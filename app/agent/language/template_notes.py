"""Parse requests for a note from a template: "create a note called Tent from the template Trip"."""

from __future__ import annotations

from collections.abc import Iterator

from app.agent.language.readings import Interpretation, NoteSet, PipelineStep, Reading, Reply
from app.agent.language.request import Request
from app.agent.language.tokens import Token, span_text
from app.vault.path import NotePath

_SCORE = 0.98
_MAX_NAME_WORDS = 6
_MAX_LISTED_TEMPLATES = 10
_LATER_STEPS = {"tag": "add_tag", "type": "set_type", "text": "append"}
"""The actions that add the other values of a new note to the text of the template."""


def parse_note_from_template(
    request: Request, tokens: tuple[Token, ...]
) -> tuple[Interpretation, tuple[Token, ...]] | None:
    """Return the creation of a note from a template with its words that name no template, or None.

    Without a name for the note, the creation is a reading that lacks it; without the template, it is a reply.
    """
    if "create_note" not in request.allowed:
        return None
    said: str | None = None
    for template, rest in _splits(request, tokens):
        creation = _creation(request, rest)
        if creation is None:
            continue
        if path := _template(request, template):
            return _reading(request, creation, path), rest
        said = template if said is None else said
    if said is None:
        return None
    folder = request.vocabulary.templates_folder
    if not folder:
        text = "This vault has no folder of templates. Nothing was created."
    elif not said:
        names = request.vocabulary.template_names()
        listed = ", ".join(names[:_MAX_LISTED_TEMPLATES]) + ", …" * (len(names) > _MAX_LISTED_TEMPLATES)
        text = f"Nothing was created. Name one of the templates in the folder {folder}: {listed}."
    else:
        text = f"The folder {folder} has no template “{said}”. Nothing was created."
    return Reply(text, understood=False), tokens


def _splits(request: Request, tokens: tuple[Token, ...]) -> Iterator[tuple[str, tuple[Token, ...]]]:
    """Yield each name that may be that of a template, longest first, and the other words."""
    for start in range(1, len(tokens)):
        for phrase in request.language.phrases("template_notes", "leads"):
            match = phrase.longest_match(tokens, start)
            if match is None:
                continue
            if match.gap_start >= 0:
                words = tokens[match.gap_start : match.gap_end]
                if any(word.key in request.language.words("introduces_text") for word in words):
                    continue  # "with the text use the template"
                is_named = not all(word.key in request.language.words("determiners") for word in words)
                name = span_text(request.text, words).strip('"“”') if is_named else ""
                yield name, (*tokens[:start], *tokens[match.end :])
                continue
            for end in range(min(len(tokens), match.end + _MAX_NAME_WORDS), match.end, -1):
                words = tokens[match.end : end]
                name = words[0].value if len(words) == 1 else span_text(request.text, words)
                yield name, (*tokens[:start], *tokens[end:])


def _creation(request: Request, tokens: tuple[Token, ...]) -> PipelineStep | None:
    """Return the step of a request to create a note, perhaps without a name; None for other requests."""
    best = next(iter(request.frame_parser(follows=False).readings(tokens)), None)
    if best is None or best.step.action != "create_note" or best.unexplained:
        return None
    return best.step if best.missing in ((), ("name",)) else None


def _template(request: Request, name: str) -> str:
    """Return the path of the only template with a name ("Trip" or "Trip Template"); empty without one."""
    vocabulary = request.vocabulary
    nouns = request.language.table("template_notes")["nouns"]
    for text in (name, *(f"{name} {noun}" for noun in nouns), *(f"{noun} {name}" for noun in nouns)):
        paths = [
            path
            for path in vocabulary.notes(text)
            if vocabulary.templates_folder and NotePath.on_disk(path).is_under(vocabulary.templates_folder)
        ]
        if len(paths) == 1:
            return paths[0]
    return ""


def _reading(request: Request, creation: PipelineStep, template: str) -> Reading:
    values = dict(creation.arguments)
    later = [
        PipelineStep(action, NoteSet(source="previous"), {name: values.pop(name)})
        for name, action in _LATER_STEPS.items()
        if name in values
    ]
    created = PipelineStep("create_note", None, {**values, "template": NotePath.on_disk(template).stem_path})
    steps = (created, *later) if "name" in values else (created,)
    missing = "" if "name" in values else "name"
    return Reading(steps, _SCORE, (), missing, request.language.code, verb_words=1)
