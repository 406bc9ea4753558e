"""Interpret a request as a change to the previous one: "only the ones tagged core", "and K1", "no, 70 %"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from app.agent.language.changes.undo import undoes_nothing
from app.agent.language.grammar.note_references import ParsedSet
from app.agent.language.grammar.note_sets import NoteSetParser
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.lookups.described_sets import checkbox_like, mark_condition
from app.agent.language.lookups.list_orders import continued_order
from app.agent.language.lookups.periods import search_of_period
from app.agent.language.meaning.conditions import property_value, replaced_conditions, top_level_parts
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.model.candidates import have_same_meaning
from app.agent.language.words.dates import DateParser, DateSpan
from app.agent.language.words.tokens import Token, span_text
from app.index.query_serializer import quote_text, quote_value
from app.index.value_order import property_of
from app.vault.path import NotePath, name_key

_SPAN = re.compile(
    r"(?P<name>modified|created):(?:>=)?(?P<first>\d{4}-\d\d-\d\d)(?: (?P=name):<=(?P<last>\d{4}-\d\d-\d\d))?"
)
_YEAR_CONDITION = re.compile(r"\[(?P<name>\w+):(?P<sign><=|>=|<|>|)(?P<year>\d{4})")
_LISTINGS = frozenset(("backlinks", "outgoing", "related", "similar", "mentions", "meaning", "what_supports"))
_MAX_DESCRIBING_WORDS = 3
_CORRECTED_ROLES = ("confidence", "value", "tag", "text", "new_name", "folder", "name")


def parse_plain_follow_up(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Interpret a follow-up that has only one meaning: "one week later", "link them", "the second one"."""
    if counted := _list_counted(request, tokens):
        return counted
    last = request.dialog.last
    if last is None or request.dialog.question is not None:
        return None
    return (
        _link_listed_mentions(request, tokens, last.last)
        or _nth_in_order(request, tokens, last.last)
        or _other_end_of_order(request, tokens, last.last)
        or _open_listed(request, tokens)
        or _list_others(request, tokens)
        or _shift_dates(request, tokens, last.last)
        or _search_other_period(request, tokens, last.last)
    )


def parse_follow_up(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Interpret a change to the previous request: "only the ones tagged core", "no, octant instead"."""
    last = request.dialog.last
    if last is None:
        return None
    step = last.last
    sets = request.set_parser()
    if request.dialog.question is not None:
        # The words may continue the request that is in question, so no earlier change is repeated.
        return _refine_search(request, tokens, sets, step)
    # Two notes can't have the same new name.
    repeats = step.action != "rename"
    return (
        _refine_search(request, tokens, sets, step)
        or _limit_links(request, tokens, sets, step)
        or (_repeated(request, _repeat_on_note(request, tokens, sets, step)) if repeats else None)
        or _replace_target(request, tokens, sets, step)
        or (_repeated(request, _repeat_on_notes(request, tokens, sets, step)) if repeats else None)
        or _correct_value(request, tokens, step)
    )


def parse_refined_question(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the searches of an open question with more conditions: "what's rated 7?", "just books".

    Return an empty list if some option is no search, or for other words.
    """
    question, sets = request.dialog.question, request.set_parser()
    refined: list[Reading] = []
    for option in question.options if question is not None else ():
        reading = option.reading
        narrower = _refine_search(request, tokens, sets, reading.last) if len(reading.steps) == 1 else None
        if narrower is None:
            return []
        if not any(have_same_meaning(known, narrower) for known in refined):
            refined.append(narrower)
    return refined


def _refine_search(
    request: Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
) -> Reading | None:
    """Change the last search by each part of "not the book, just films", after an objection such as "no:".

    A reading that leaves out a part is not certain.
    """
    parts, has_objection = _parts_of_refinement(request, tokens)
    if not has_objection and len(parts) < 2:
        return _refine_by_part(request, tokens, sets, step)
    refined = [step]
    is_certain = True
    for part in parts:
        reading = _refine_by_part(request, part, sets, refined[-1])
        if reading is not None:
            refined.append(reading.last)
        is_certain = is_certain and reading is not None and reading.is_certain
    if len(refined) == 1:
        return None
    return Reading((refined[-1],), 0.9, language=request.language.code, is_certain=is_certain)


def _parts_of_refinement(request: Request, tokens: tuple[Token, ...]) -> tuple[list[tuple[Token, ...]], bool]:
    """Return the parts that begin with "only" or "without", and whether an objection came before them.

    There are no parts if other words come first.
    """
    language = request.language
    start = language.match_prefix(tokens, 0, "refine", "no")
    while 0 < start < len(tokens) and tokens[start].kind == "mark":
        start += 1
    starts = [
        at
        for at in range(start, len(tokens))
        if (at == start or tokens[at - 1].kind == "mark")
        and any(language.match_prefix(tokens, at, "refine", kind) > at for kind in ("only", "without"))
    ]
    if not starts or starts[0] != start:
        return [], False
    ends = [*starts[1:], len(tokens)]
    return [without_marks_at_end(tokens[at:end]) for at, end in zip(starts, ends, strict=True)], start > 0


@dataclass(frozen=True, slots=True)
class _Refinement:
    """The conditions after "only", "also", "without" or "how many of them"."""

    kind: str
    """The name of the phrases of `refine` that lead to the conditions."""
    first: Token
    """The first word of the request."""
    words: tuple[Token, ...]
    parsed: ParsedSet
    describes_ones: bool
    """Whether the words describe notes in "the vegetarian ones"."""

    @property
    def narrows(self) -> bool:
        """Whether the conditions select some of the listed notes."""
        return self.kind in ("only", "count_only")


def _refine_by_part(
    request: Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
) -> Reading | None:
    """Add conditions to the last search, or select some of its notes: "only the events", "without H4"."""
    language = request.language
    if step.action in _LISTINGS and request.dialog.results:
        step = PipelineStep("find", NoteSet(notes=request.dialog.results))
    if step.action not in ("find", "count") or step.target is None:
        return None
    bare = without_marks_at_end(tokens)
    is_last = language.matches_phrase(bare[-1:], "refine", "only")
    if is_last and language.match_prefix(tokens, 0, "refine", "only") == 0:
        tokens = (bare[-1], *bare[:-1])  # "top five only"
    for part in _refinements(request, tokens, sets):
        if (selected := _selected(request, step.target, part)) is not None:
            return Reading((PipelineStep("find", selected),), 0.9, language=language.code)
        if (refined := _refined(request, step, part)) is not None:
            return refined
    return None


def _refinements(request: Request, tokens: tuple[Token, ...], sets: NoteSetParser) -> Iterator[_Refinement]:
    """Yield the ways to read a request as a refinement whose words are all understood."""
    language = request.language
    # After an answer from the notes, "and the February ones?" continues the question.
    described = () if request.dialog.asked else _described(request, tokens)
    tokens = described or tokens
    for kind in ("only",) if described else ("only", "also", "without", "count_only"):
        start = 0 if described else language.match_prefix(tokens, 0, "refine", kind)
        if start == len(tokens) or not (start or described):
            continue
        start = language.after_determiners(tokens, start, len(tokens) - 1)
        # "Which of those still no topics" forgets its verb.
        still = language.match_prefix(tokens, start, "scopes", "still")
        if still < len(tokens) and tokens[still].key in language.words("lacking"):
            start = still
        end = start + 1
        while end < len(tokens) and not language.matches_phrase(tokens[end:], "refine", "among"):
            end += 1
        words = without_marks_at_end(tokens[start:end])
        parsed = sets.parse(words)
        if parsed is not None and not parsed.notes.unknown and not parsed.unexplained:
            yield _Refinement(kind, tokens[0], words, parsed, bool(described))


def _selected(request: Request, listed: NoteSet, part: _Refinement) -> NoteSet | None:
    """Return the listed notes that only an order or a number selects: "just the newest", or None."""
    order, limit = part.parsed.notes.order, part.parsed.notes.limit
    if part.kind != "only" or part.parsed.notes.query or not (order or limit):
        return None
    last_order = listed.order.removeprefix("-")
    if last_order and limit and request.language.match_prefix(part.words, 0, "order_words", "bottom"):
        order, limit = f"-{last_order}", abs(limit)
    return NoteSet(source="previous", order=continued_order(request.dialog, order), limit=limit)


def _refined(request: Request, step: PipelineStep, part: _Refinement) -> Reading | None:
    """Return the last search with other conditions; None if the words are no conditions."""
    listed, parsed, language = step.target or NoteSet(), part.parsed, request.language
    query, is_known = _meant_query(request, part)
    if not query or (part.kind == "also" and (not parsed.has_head or listed.notes)):
        return None
    # "Which of them …" and "show me only …" ask for the notes, even after a count.
    asking = language.verbs() | language.words("asking_words")
    is_list = part.kind == "only" and part.first.key in asking
    action = "count" if part.kind == "count_only" else "find" if is_list else step.action
    match part.kind:
        case "also":
            notes = listed.or_query(query)
        case "without":
            notes = listed.with_query(f"-({query})" if " " in query else f"-{query}")
        case _:
            others = _other_value(request, listed, query)
            notes = replace(listed, query=others) if others else listed.with_query(_added(listed, query))
    # "Only the best" may refer to a sort order rather than a word.
    is_plain = is_known or (part.describes_ones and len(part.words) == 1)
    is_ambiguous = parsed.has_bare_topic and not is_plain
    is_ambiguous |= part.narrows and parsed.is_near and not is_known
    # "Also between 1740 and 1760" may extend or replace a comparison, "also the events" a count.
    is_ambiguous |= part.kind == "also" and ("[" in query or step.action == "count")
    refined = PipelineStep(action, notes)
    return Reading((refined,), 0.9, language=language.code, is_certain=not is_ambiguous)


def _meant_query(request: Request, part: _Refinement) -> tuple[str, bool]:
    """Return the search for what words describe, and whether they name a value, a checkbox or a tag."""
    parsed, notes = part.parsed, part.parsed.notes
    words = [token.value for token in part.words if token.kind != "mark"]
    text = span_text(request.text, part.words)
    if part.kind == "without" and parsed.is_near and len(words) == 1:
        # "Without the drafts" is more than the note "First draft".
        return words[0] if words[0].isalnum() and words[0] != "OR" else quote_text(words[0]), False
    if part.kind == "without" and notes.notes and not notes.query:
        return " OR ".join(_excluded(request, path) for path in notes.notes), False
    if part.narrows and (parsed.is_near or parsed.has_bare_topic):
        # "Which of those are authors?" is not about the note "Author Template".
        value = request.vocabulary.find_value(text)
        known = value or (_description(request, part.words) if parsed.has_bare_topic else "")
        if known:
            return known, True
    if part.narrows and notes.is_single:
        # "Which of those mention Maskelyne?" looks for the name.
        return " ".join(words) if parsed.is_near else quote_text(text), False
    return notes.query, False


def _description(request: Request, tokens: tuple[Token, ...]) -> str:
    """Return the condition on a value, a checkbox or a tag that words describe; empty if there is none.

    "Indian" is `[cuisine:Indian]`, and "vegetarian", or German "vegetarisch", `[vegetarian:true]`.
    """
    text = " ".join(token.value for token in without_marks_at_end(tokens))
    vocabulary = request.vocabulary
    if checkbox := checkbox_like(request, name_key(text)):
        return checkbox
    if value := vocabulary.find_value(text) if text else None:
        return value
    if len(described := without_marks_at_end(tokens)) == 1 and (
        mark := mark_condition(request, described[0])
    ):
        return mark
    plain = request.language.function_words() - request.language.verbs()
    words = [token.key for token in tokens if token.is_word and token.key not in plain]
    endings = request.language.data.get("endings", ())
    tag = vocabulary.find_described_tag(words, endings) if words else None
    return f"tag:{quote_value(tag)}" if tag is not None else ""


def _described(request: Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the words that describe listed notes in "the vegetarian ones"; empty for other requests."""
    language = request.language
    words = without_marks_at_end(tokens)
    # "Ones" is the plural of a pronoun for one note; "among them" describes no notes.
    singulars = language.words("result_pronouns") & language.words("single_nouns")
    if not words or singulars.isdisjoint(request.vocabulary.plural_stems(words[-1].key)):
        return ()
    start = first = language.match_prefix(words, 0, "refine", "only")
    first = language.after_determiners(words, first)
    described = words[first:-1]
    plain = language.words("determiners") | language.words("lacking")
    is_plain = bool(described) and all(token.is_word and token.key not in plain for token in described)
    # "Delete empty ones" is a request of its own, but "the quick ones" is none.
    is_plain = is_plain and (len(described) == 1 or described[0].key not in language.verbs())
    is_led = start > 0 or first > 0
    return described if is_led and is_plain and len(described) <= _MAX_DESCRIBING_WORDS else ()


def narrowed_notes(request: Request, tokens: tuple[Token, ...], notes: NoteSet) -> NoteSet | None:
    """Return a set of notes with the conditions of "only the events" or "not H4"; None for other words."""
    step = PipelineStep("find", notes)
    narrower = _refine_search(request, tokens, request.set_parser(), step)
    if narrower is None or not narrower.is_certain or narrower.last.action != "find":
        return None
    target = narrower.last.target
    return target if target is not None and not target.source else None


def _added(listed: NoteSet, query: str) -> str:
    """Return a search without the conditions that the listed notes already meet."""
    known, parts = top_level_parts(listed.query), top_level_parts(query)
    return query if "OR" in (*known, *parts) else " ".join(part for part in parts if part not in known)


def _other_value(request: Request, listed: NoteSet, query: str) -> str:
    """Return the search for another value of a property of which notes have one, or an empty text.

    After "Italian mains", "and the French ones?" are the French mains.
    """
    value, parts = property_value(query), top_level_parts(listed.query)
    if value is None or request.vocabulary.is_list(value[0]) or query in parts:
        return ""
    has_other = any((own := property_value(part)) and own[0] == value[0] for part in parts)
    return " ".join(replaced_conditions(parts, [query])) if has_other else ""


def _limit_links(
    request: Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
) -> Reading | None:
    """Limit a list of unresolved links to those in some notes: "only in References"."""
    language = request.language
    after = language.match_prefix(tokens, 0, "refine", "only")
    parsed = sets.parse(tokens[after:]) if 0 < after < len(tokens) else None
    if step.action != "unresolved_links" or parsed is None or parsed.notes.unknown or parsed.unexplained:
        return None
    if parsed.has_bare_topic or parsed.notes.is_everything:
        return None
    limited = PipelineStep("unresolved_links", parsed.notes)
    return Reading((limited,), 0.9, language=language.code, is_certain=parsed.is_certain)


def _excluded(request: Request, path: str) -> str:
    """Return the condition that selects a note to leave out or, if it was not listed, its mentions.

    After a list of albums, "without Miles" leaves out those whose artist is Miles Davis.
    """
    conditions = request.vocabulary.conditions_on(NotePath.on_disk(path).name)
    if path in request.dialog.them or not conditions:
        return f"path:{quote_text(path)}"
    return " OR ".join(conditions)


def _list_counted(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Interpret "list them" or "which ones?" after a count, or after a question about counts."""
    dialog, language = request.dialog, request.language
    readings = [option.reading for option in dialog.question.options] if dialog.question is not None else []
    readings = readings or ([dialog.last] if dialog.last is not None else [])
    counted = next((reading for reading in readings if reading.last.action == "count"), None)
    if counted is None or readings[0].last.action not in ("find", "count"):
        return None
    if len(counted.steps) > 1 or not language.matches_phrase(tokens, "refine_counts", "list"):
        return None
    step = replace(counted.last, action="find")
    return Reading((step,), 0.95, language=language.code)


def _link_listed_mentions(request: Request, tokens: tuple[Token, ...], step: PipelineStep) -> Reading | None:
    """Interpret "link them" after a list of a note's unlinked mentions."""
    has_mentions = step.action == "mentions" and "link_mentions" in request.allowed
    if not has_mentions or not request.language.matches_phrase(tokens, "refine", "link_mentions"):
        return None
    target = NoteSet(notes=request.dialog.focus) if len(request.dialog.focus) == 1 else step.target
    return Reading((PipelineStep("link_mentions", target),), 0.95, language=request.language.code)


def _other_end_of_order(request: Request, tokens: tuple[Token, ...], step: PipelineStep) -> Reading | None:
    """Interpret "and the cheapest?" after the most expensive note was found, and the reverse.

    After the oldest note, the cheapest one is that of all notes, too.
    """
    language, whole = request.language, request.dialog.whole_list
    plain = language.words("determiners") | language.words("result_pronouns")
    rest = tokens[language.match_prefix(tokens, 0, "and") :]
    words = [token for token in rest if token.kind != "mark" and token.key not in plain]
    if whole is None or step.target is None or not property_of(key := step.target.order.removeprefix("-")):
        return None
    ends = {name for name in ("lowest", "highest") if language.matches_phrase(words, "compared_sets", name)}
    implied = language.implied_properties({token.key for token in words})
    if implied and key not in implied:
        known = [name for name in sorted(implied) if request.vocabulary.find_property(name) == name]
        key = known[0] if len(known) == 1 else ""
    if len(ends) != 1 or not key:
        return None
    target = replace(whole, order=f"-{key}" if ends == {"lowest"} else key, limit=1)
    return Reading((PipelineStep("find", target),), 0.95, language=language.code)


def _nth_in_order(request: Request, tokens: tuple[Token, ...], step: PipelineStep) -> Reading | None:
    """Interpret "and the second longest?" or "not that one, the next longest" after a list or its longest."""
    language, last = request.language, step.target
    start = language.match_prefix(tokens, 0, "and") or language.match_prefix(
        tokens, 0, "corrections", "leads"
    )
    while start < len(tokens) and (
        tokens[start].kind == "mark" or tokens[start].key in language.words("determiners")
    ):
        start += 1
    words = without_marks_at_end(tokens[start:])
    if step.action != "find" or last is None or not words:
        return None
    first, rest = words[0], words[1:]
    number = int(language.table("ordinals").get(first.key, 0))
    if rest and language.match_prefix(words, 0, "refine", "next") == 1:
        number = (last.pick or 1) + 1
    for prefix, prefixed in language.table("refine").get("ordinal_prefixes", {}).items():
        if first.key.startswith(prefix):  # "zweitlängste"
            key = first.key.removeprefix(prefix)
            number, rest = prefixed, (replace(first, key=key, value=key), *words[1:])
    parsed = request.set_parser().parse(rest) if number > 1 and rest else None
    if parsed is None or parsed.unexplained or parsed.notes.query or not parsed.notes.order:
        return None
    order = continued_order(request.dialog, parsed.notes.order)
    if (whole := request.dialog.whole_list) is not None:
        is_same = last.order.startswith("-") == order.startswith("-")
        target = replace(whole, order=last.order if is_same else order, pick=number)
    elif request.dialog.has_list:
        target = NoteSet(notes=request.dialog.them, order=order, pick=number)
    else:
        return None
    return Reading((PipelineStep("find", target),), 0.95, language=language.code)


def _open_listed(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Interpret only "the second one" after a list; the last one may be that of another order."""
    sets = request.set_parser()
    follows_list = request.dialog.has_list or (request.dialog.has_search and request.dialog.results)
    ordinal = sets.ordinal_in(tokens) if follows_list and tokens else None
    if ordinal is None or ordinal < 1 or request.language.match_prefix(tokens, 0, "and"):
        return None
    parsed = sets.parse_reference(tokens)
    if parsed is None or not parsed.notes.is_single:
        return None
    return Reading((PipelineStep("open", parsed.notes),), 0.95, language=request.language.code)


def _list_others(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Interpret "show me the others" after a part of a list, or after a request about some of its notes."""
    others = tuple(path for path in request.dialog.others if request.vocabulary.has_file(path))
    is_part = bool(request.dialog.rest) or 0 < len(others) < len(request.dialog.them)
    if not (others and is_part and request.language.matches_phrase(tokens, "refine", "others")):
        return None
    step = PipelineStep("find", NoteSet(notes=others))
    return Reading((step,), 0.95, language=request.language.code)


def _shift_dates(request: Request, tokens: tuple[Token, ...], step: PipelineStep) -> Reading | None:
    """Repeat the last search, or the view of a daily note, for other dates: "one week later"."""
    after = request.language.match_prefix(tokens, 0, "refine", "same")
    shift = request.dates.parse_shift(tokens[after:])
    action = request.allowed.get(step.action)
    if shift is None or action is None or action.writes:
        return None  # no shift, or its tool has been turned off since
    unit, count = shift
    target = step.target
    if (
        target is not None
        and target.is_single
        and (day := _parse_day(re.sub(r"[_.]", "-", NotePath.on_disk(target.notes[0]).name)))
    ):
        name = request.vocabulary.period_name(request.dates.shift(day, day, unit, count)[0].isoformat())
        paths = request.vocabulary.notes(name)[:1]
        target = NoteSet(notes=paths) if paths else NoteSet(unknown=name)
    elif target is not None:
        target = replace(target, query=_shift_query_dates(target.query, request.dates, unit, count))
    repeated = replace(step, target=target)
    if due := str(step.arguments.get("due", "")):
        first, _, until = due.partition("..")
        if (start := _parse_day(first)) and (end := _parse_day(until or first)):
            days = [day.isoformat() for day in request.dates.shift(start, end, unit, count)]
            repeated = repeated.with_argument("due", days[0] if days[0] == days[1] else "..".join(days))
    return Reading((repeated,), 0.95, language=request.language.code) if repeated != step else None


def _search_other_period(request: Request, tokens: tuple[Token, ...], step: PipelineStep) -> Reading | None:
    """Repeat a search of names or properties for another period: "and in 2020?", "April instead"."""
    language = request.language
    end, is_corrected = len(tokens), False
    while end > 1 and (
        language.matches_phrase(tokens[end - 1 : end], "refine", "instead_after")
        or language.matches_phrase(tokens[end - 1 : end], "courtesies")
    ):
        is_corrected = is_corrected or not language.matches_phrase(tokens[end - 1 : end], "courtesies")
        end -= 1
    starts = {
        match.end
        for kind in ("same", "only", "instead")
        for phrase in language.phrases("refine", kind)
        for match in phrase.match(tokens[:end], 0)
    }
    if is_corrected:
        starts.add(0)
    plain = language.words("determiners") | language.words("result_pronouns")
    for start in sorted(starts):
        while start < end and (tokens[start].key in plain or tokens[start].kind == "mark"):
            start += 1
        moved = search_of_period(request, tokens[start:end], step) if start < end else None
        if moved is not None:
            return Reading((moved,), 0.95, language=language.code)
    return None


def _shift_query_dates(query: str, dates: DateParser, unit: str, count: int) -> str:
    """Shift the dates in the conditions of a search by a number of units."""

    def shift_span(match: re.Match[str]) -> str:
        first, last = _parse_day(match["first"]), _parse_day(match["last"] or match["first"])
        if first is None or last is None:
            return match[0]
        start, end = dates.shift(first, last, unit, count)
        return DateSpan(start, end, 0).query(match["name"])

    def shift_year(match: re.Match[str]) -> str:
        year = int(match["year"]) + count
        return f"[{match['name']}:{match['sign']}{year:04d}" if 0 < year < 10_000 else match[0]

    shifted = _SPAN.sub(shift_span, query)
    return _YEAR_CONDITION.sub(shift_year, shifted) if unit == "year" else shifted


def _parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _repeat_on_notes(
    request: Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
) -> Reading | None:
    """Repeat the last action on other notes ("same tag for H4 and K1") or revert it ("not K1")."""
    language = request.language
    if step.target is None or step.action in ("find", "count"):
        return None
    mentions = request.mentions(tokens)
    notes = [
        mention
        for mention in mentions
        if mention.kind == "note" and mention.notes is not None and mention.notes.notes
    ]
    words = [mention.tokens[0] for mention in mentions if mention.kind == "word"]
    again_words = language.words("same_again")
    if not notes:
        return _repeat_on_pronoun(request, tokens, sets, step)
    if len(notes) + len(words) != len(mentions):
        return None
    paths = tuple(dict.fromkeys(path for mention in notes if mention.notes for path in mention.notes.notes))
    is_certain = not any(mention.is_near for mention in notes)
    target = NoteSet(notes=paths)
    companions = language.table("doubts")["companions"]
    if step.action == "set_property" and words and all(token.key in companions for token in words):
        return None  # "with Ann" is rather another property
    if words and all(token.key in again_words for token in words):
        repeated = replace(step, target=target)
        return Reading((repeated,), 0.9, language=language.code, is_certain=is_certain)
    change = request.dialog.changes[-1] if request.dialog.made == 1 else None
    reverted = change.opposite(paths) if change is not None else None
    if reverted is not None and words and all(token.key in language.words("not_that") for token in words):
        reading = Reading((reverted,), 0.9, language=language.code)
        # The note may have got its tag by an earlier change.
        is_last = reverted.action != "undo" or undoes_nothing(reading, request.dialog.changes)
        return replace(reading, is_certain=is_certain and is_last)
    return None


def _repeated(request: Request, reading: Reading | None) -> Reading | None:
    """Return a repeated change with all changes of the last request, or the last move for "put X there".

    "The same for H4" after "set status to read and rating to 4" means both changes.
    """
    last = request.dialog.last
    if reading is None or last is None or reading.last.action != last.last.action:
        return reading
    says_there = any(token.key in request.language.table("doubts")["there"] for token in request.tokens)
    moves = [own for own in request.dialog.changes if own.action == "move"]
    if says_there and moves and last.last.action != "move":
        step = PipelineStep("move", reading.last.target, moves[-1].arguments)
        return replace(reading, steps=(step,), is_certain=False)
    first, *later = last.steps
    has_same_notes = all(step.target in (first.target, NoteSet(source="previous")) for step in later)
    if not later or not all(request.allowed[step.action].writes for step in last.steps):
        return reading
    steps = tuple(replace(step, target=reading.last.target) for step in last.steps)
    return replace(reading, steps=steps, is_certain=reading.is_certain and has_same_notes)


def _repeat_on_pronoun(
    request: Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
) -> Reading | None:
    """Repeat the last action on the notes that a pronoun refers to: "and this one", "the second one too"."""
    language = request.language
    again_words = language.words("same_again")
    words = [token for token in tokens if token.kind != "mark"]
    for start in range(len(words)):
        for end in range(len(words), start, -1):
            rest = (*words[:start], *words[end:])
            if not rest or not all(token.key in again_words for token in rest):
                continue
            part = words[start:end]
            # In "undo that", the verb is no part of a name.
            is_name = part[0].key not in language.verbs()
            parsed = sets.parse_reference(part) or (sets.find_similar(part) if is_name else None)
            last_notes = step.target.notes if step.target is not None else ()
            if parsed is not None and parsed.notes.notes and parsed.notes.notes != last_notes:
                repeated = replace(step, target=parsed.notes)
                return Reading((repeated,), 0.9, language=language.code, is_certain=False)
    return None


def _correct_value(request: Request, tokens: tuple[Token, ...], step: PipelineStep) -> Reading | None:
    """Correct the value of the last change: "make that 70 %", "no, 1767"."""
    language = request.language
    action = request.allowed.get(step.action)
    if step.target is None or action is None or not action.writes:
        return None
    mentions = request.mentions(tokens)
    values = [mention for mention in mentions if mention.kind in ("num", "date", "quoted")]
    words = [mention.tokens[0] for mention in mentions if mention.kind == "word"]
    if not values or len(values) + len(words) != len(mentions):
        return None
    if not all(token.key in language.words("corrects") for token in words):
        return None
    value = values[-1]
    for role in _CORRECTED_ROLES:
        current = step.arguments.get(role)
        if current is None or (value.kind == "num") != isinstance(current, int | float):
            continue
        frame = next((frame for frame in request.frames if frame.action == step.action), None)
        if frame is None:
            return None
        bound = request.frame_parser(follows=False).fill(action, frame, role, value.tokens)
        if bound is not None and role in bound:
            corrected = step.with_argument(role, bound[role])
            # Only a number that replaces the number just written is unambiguous.
            change = request.dialog.changes[-1] if request.dialog.changes else None
            is_certain = (
                value.kind == "num"
                and change is not None
                and change.action == step.action
                and set(step.target.notes) <= set(change.notes)
            )
            return Reading((corrected,), 0.9, language=language.code, is_certain=is_certain)
    return None


def _repeat_on_note(
    request: Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
) -> Reading | None:
    """Repeat the last action on another note: "and to K1", "what about H2?", "H2 as well"."""
    after = request.language.match_prefix(tokens, 0, "refine", "same")
    end = len(tokens)
    for start in range(max(1, end - 2), end):
        if request.language.matches_phrase(tokens[start:end], "refine", "also") or (
            request.language.matches_phrase(tokens[start:end], "courtesies") and after == 0
        ):
            end = start
            break
    if step.target is None or (after == 0 and end == len(tokens)) or after >= end:
        return None
    named = sets.find_named(tokens[after:end])
    if named is None or len(named.notes.notes) != 1 or not step.target.notes:
        return None
    repeated = replace(step, target=named.notes)
    words = [token for token in (*tokens[:after], *tokens[end:]) if token.kind != "mark"]
    again_words = request.language.words("same_again")
    is_certain = all(token.key in again_words for token in words)
    return Reading((repeated,), 0.9, language=request.language.code, is_certain=is_certain)


def _replace_target(
    request: Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
) -> Reading | None:
    """Replace the notes of the last step: "no, octant instead", "I meant H4"."""
    language = request.language
    position = language.match_prefix(tokens, 0, "refine", "instead")
    end, is_cued = len(tokens), position > 0
    for start in range(max(0, end - 3), end):
        if start > position and any(
            phrase.matches_all(tokens[start:end]) for phrase in language.phrases("refine", "instead_after")
        ):
            end, is_cued = start, True
            break
    while position < end and tokens[position].kind == "mark":
        position += 1
    rest = without_marks_at_end(tokens[position:end])
    if not is_cued or not rest or step.target is None or len(rest) > 8:
        return None
    named = sets.find_named(rest)
    if named and named.notes.notes and step.target.notes:
        # The previous change stays, so the agent asks before it makes the same change here.
        corrected = replace(step, target=named.notes)
        return Reading((corrected,), 0.92, language=language.code, is_certain=False)
    if step.action in ("find", "count"):
        parsed = sets.parse(rest)
        if parsed and not parsed.notes.notes and not parsed.notes.unknown and parsed.fit >= 0.55:
            return Reading((replace(step, target=parsed.notes),), 0.9, language=language.code)
        if parsed and (parsed.notes.unknown or parsed.notes.notes):
            words = " ".join(token.value for token in rest)
            return Reading((replace(step, target=NoteSet(query=words)),), 0.85, language=language.code)
    return None
