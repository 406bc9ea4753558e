"""Parse requests for a note from a template: "create a note called Tent from the template Trip"."""

from __future__ import annotations

from collections.abc import Iterator

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.actions import CREATION_VALUES
from app.agent.language.meaning.readings import Interpretation, NoteSet, PipelineStep, Reading, Reply
from app.agent.language.words.tokens import Token, span_text
from app.vault.path import NotePath, name_key

_SCORE = 0.98
_MAX_NAME_WORDS = 6
_ADDED_VALUES = ("tag", "type", "text")
"""The values of a new note that later steps add to the text of the template."""


def parse_note_from_template(
    request: Request, tokens: tuple[Token, ...]
) -> tuple[Interpretation, tuple[Token, ...]] | None:
    """Return the creation of a note from a template with its words that name no template, or None.

    Without a name for the note, the creation is a reading that lacks it; without the template, it is a reply.
    """
    if "create_note" not in request.allowed:
        return None
    said: str | None = None
    for template, clause, other_tokens in _splits(request, tokens):
        path = template_of(request, template)
        rest = _with_plain_name(request, _with_folder_last(request, other_tokens), path)
        creation = daily_note(request, rest) or creation_of(request, rest)
        if creation is None:
            continue
        # The template may be named within another value.
        if path and not any(clause in str(value) for value in creation.arguments.values()):
            return reading_from_template(request, creation, path), rest
        said = template if said is None and not path else said
    if said is None:
        return None
    folder = request.vocabulary.templates_folder
    if not folder:
        text = "This vault has no folder of templates. Nothing was created."
    elif not said:
        text = f"No template in the folder {folder} was named. Nothing was created."
    else:
        text = f"The folder {folder} has no template “{said}”. Nothing was created."
    return Reply(text, understood=False), tokens


def _splits(request: Request, tokens: tuple[Token, ...]) -> Iterator[tuple[str, str, tuple[Token, ...]]]:
    """Yield each name that may be that of a template, longest first, its clause, and the other words."""

    def split(name: str, start: int, end: int) -> tuple[str, str, tuple[Token, ...]]:
        return name, span_text(request.text, tokens[start:end]), (*tokens[:start], *tokens[end:])

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
                yield split(name, start, match.end)
                continue
            for end in range(min(len(tokens), match.end + _MAX_NAME_WORDS), match.end, -1):
                words = tokens[match.end : end]
                name = words[0].value if len(words) == 1 else span_text(request.text, words)
                yield split(name, start, end)


def _with_folder_last(request: Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens with a folder before the note after it: "create in References a note Momo"."""
    frame = next((own for own in request.frames if own.action == "create_note"), None)
    phrases = frame.roles.get("folder", ()) if frame is not None else ()
    matches = [match.end for phrase in phrases if (match := phrase.longest_match(tokens, 1))]
    for start in sorted(set(matches), reverse=True):
        for end in range(min(len(tokens), start + _MAX_NAME_WORDS), start, -1):
            if request.vocabulary.find_folder(span_text(request.text, tokens[start:end])):
                return (*tokens[:1], *tokens[end:], *tokens[1:end])
    return tokens


def _with_plain_name(request: Request, tokens: tuple[Token, ...], template: str) -> tuple[Token, ...]:
    """Return the tokens without the kind of the note: "a movie note for Dune", "a note for the movie Dune".

    The kind is one of the vault, or in the template's name. It is a part of the name if it is written as one:
    "a note for The Book Thief".
    """
    language = request.language
    determiners = language.words("determiners")
    nouns = language.words("note_nouns") - determiners
    noun = next((at for at, token in enumerate(tokens) if token.key in nouns), None)
    if noun is None:
        return tokens
    named_kinds = set(name_key(NotePath.on_disk(template).name).split()) if template else set()

    def is_kind(token: Token, *, is_named: bool = False) -> bool:
        forms = {token.key, *request.vocabulary.singular_forms(token.key)}
        is_noun = token.value[:1].islower() or language.has_capital_nouns
        is_known = not forms.isdisjoint(named_kinds) or (
            not is_named and request.vocabulary.has_kind(token.key)
        )
        return token.is_word and is_noun and is_known

    after = noun + 1
    before = (
        noun - 1
        if noun > 1 and is_kind(tokens[noun - 1]) and not is_daily(request, tokens[noun - 1])
        else noun
    )
    name = language.match_prefix(tokens, after, "template_notes", "about")
    if name == len(tokens):
        return tokens
    has_determiner = tokens[name].key in determiners and tokens[name].value.islower()
    kind = name + has_determiner
    kind += (
        has_determiner and tokens[kind : kind + 1] != () and tokens[kind].key in language.words("new_words")
    )
    if kind + 1 < len(tokens) and is_kind(tokens[kind], is_named=not has_determiner):
        # "A new patient, Ziggy", "a new trip called Lisbon"
        has_comma = kind > name + has_determiner and tokens[kind + 1].key == ","
        after = language.match_prefix(tokens, kind + 1 + has_comma, "template_notes", "named")
        follows = tokens[after] if after < len(tokens) else None
        if follows is not None and follows.kind != "mark" and follows.key not in language.function_words():
            name = after
    # "For" also begins the name in languages in which no frame has it.
    return (*tokens[:before], tokens[noun], *tokens[name:])


def daily_note(request: Request, tokens: tuple[Token, ...]) -> PipelineStep | None:
    """Return the creation of the daily note of a day: "create a daily note for tomorrow", or None."""
    language, vocabulary = request.language, request.vocabulary
    folder = vocabulary.daily_folder
    noun = next((at for at, token in enumerate(tokens) if is_daily(request, token)), 0)
    if folder is None or not noun:
        return None
    plain = language.words("determiners") | language.words("fillers")
    if tokens[0].key not in language.verbs() or any(token.key not in plain for token in tokens[1:noun]):
        return None
    rest = [token for token in tokens[noun + 1 :] if token.kind != "mark"]
    rest = rest[1:] if rest and rest[0].key in language.words("note_nouns") else rest
    particles = language.table("property_values")["ends"]
    rest = rest[:-1] if rest and rest[-1].key in particles else rest
    rest = rest[language.match_prefix(rest, 0, "template_notes", "about") :]
    ahead = request.dates.days_ahead(rest) if rest else str(request.dates.today)
    past = request.dates.parse_period(rest) if ahead is None else None
    day = ahead or (str(past.first) if past is not None and past.first == past.last else "")
    if not day or ".." in day:
        return None
    return PipelineStep("create_note", None, {"name": vocabulary.period_name(day), "folder": folder})


def is_daily(request: Request, token: Token) -> bool:
    """Return whether a word means a daily note: "journal"."""
    words = request.language
    return token.key in words.words("daily_nouns") - words.words("note_nouns") and token.value[:1].isalpha()


def creation_of(request: Request, tokens: tuple[Token, ...]) -> PipelineStep | None:
    """Return the step of a request to create a note, perhaps without a name; None for other requests."""
    best = next(iter(request.frame_parser(follows=False).readings(tokens)), None)
    if best is None or best.step.action != "create_note" or best.unexplained:
        return None
    return best.step if best.missing in ((), ("name",)) else None


def template_of(request: Request, name: str) -> str:
    """Return the path of the only template with a name ("Trip" or "Trip Template"); empty without one."""
    for said in _forms(request, name):
        if path := _template_named(request, said):
            return path
    return ""


def _forms(request: Request, name: str) -> Iterator[str]:
    """Yield the names that words for a template may mean: "for books" and "book"."""
    language, vocabulary = request.language, request.vocabulary
    words = name.split()
    plain = {*language.words("determiners"), *language.table("template_notes")["kinds"]}
    yield name
    while len(words) > 1 and words[0].casefold() in plain:
        words = words[1:]
    yield " ".join(words)
    if len(words) == 1:
        for form in vocabulary.singular_forms(words[0].casefold()):
            yield form
            yield from vocabulary.plural_stems(form)
        yield from vocabulary.plural_forms(words[0].casefold())  # "a new person" from "People Template"


def _template_named(request: Request, name: str) -> str:
    """Return the path of the only template with a name, perhaps without the word "template" in it."""
    vocabulary = request.vocabulary
    nouns = request.language.table("template_notes")["nouns"]
    for text in (name, *(f"{name} {noun}" for noun in nouns), *(f"{noun} {name}" for noun in nouns)):
        paths = [
            path
            for path in vocabulary.notes_and_templates(text)
            if vocabulary.templates_folder and NotePath.on_disk(path).is_under(vocabulary.templates_folder)
        ]
        if len(paths) == 1:
            return paths[0]
    return ""


def reading_from_template(request: Request, creation: PipelineStep, template: str) -> Reading:
    """Return the creation of a note from a template, which later steps complete.

    Without a folder, the note is created where the notes of the template's kind are: "Jobs" for "Job".
    """
    values = dict(creation.arguments)
    nouns = request.language.table("template_notes")["nouns"]
    kind = " ".join(w for w in NotePath.on_disk(template).name.split() if name_key(w) not in nouns)
    if "folder" not in values and (known := request.vocabulary.find_folder_of_one(kind)):
        values["folder"] = known
    later = [
        PipelineStep(action, NoteSet(source="previous"), {name: values.pop(name)})
        for action, (name, _) in CREATION_VALUES.items()
        if name in _ADDED_VALUES and name in values
    ]
    created = PipelineStep("create_note", None, {**values, "template": NotePath.on_disk(template).stem_path})
    steps = (created, *later) if "name" in values else (created,)
    missing = "" if "name" in values else "name"
    folder = str(values.get("folder", ""))
    # In "the trip to Rome", Rome may be a part of the name.
    is_certain = not folder or request.vocabulary.find_folder(folder) is not None
    code = request.language.code
    return Reading(steps, _SCORE, (), missing, code, verb_words=1, is_certain=is_certain)
