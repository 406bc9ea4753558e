"""Parse words that name several conditions on notes: "vegetarian mains", "invoices that are not paid"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from app.agent.language.grammar.coverage import accounts_for_all
from app.agent.language.grammar.property_conditions import QueryPart
from app.agent.language.grammar.questions import is_question
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.meaning.clarifications import with_options
from app.agent.language.meaning.conditions import condition_slots, top_level_parts
from app.agent.language.meaning.dialog import MAX_RESULTS
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.words.tokens import Token, span_text
from app.agent.language.words.vault_words import name_words
from app.index.query_serializer import quote_value
from app.vault.path import name_key

_MAX_VALUE_WORDS = 3
_MAX_SPAN = 12
_MIN_COGNATE = 0.75
"""Minimum share of a checkbox's name with which a word for it begins, perhaps in another language."""
_MIN_COGNATE_LENGTH = 5
_MIN_DAYS = 0.5
"""Minimum share of days among the values of a property that says when something was done."""
_MIN_NUMBERS = 0.5
"""Minimum share of numbers among the values of a property that says how much or how good something is."""
_SCORE = 0.97
_PRESENCE = re.compile(r"\[[^:\]]+\]")


@dataclass(frozen=True, slots=True)
class DescribedPart:
    """A condition that words name.

    Args:
        query: The condition.
        end: The position after its words.
        is_stated: Whether a value or a checkbox of the vault says it, instead of a kind of notes.
        is_person: Whether it is about a person and a verb.
    """

    query: str
    end: int
    is_stated: bool = True
    is_person: bool = False


def parse_described_list(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the list of the notes that the words of a request describe; None for other requests."""
    words = without_marks_at_end(tokens)
    if "find" not in request.allowed:
        return None
    ones = request.language.words("result_pronouns") & request.language.words("single_nouns")
    is_order = len(words) > 1 and bool(request.actions_at(words, 0))
    if is_order and (words[-1].key in ones or request.set_parser().find_named(words[1:])):
        return None  # "open the daily note", "open the red one", where notes have the status "open"
    if counted := _counted(request, words):
        return counted
    action, lead = asking_lead(request, words)
    lead = lead if action == "find" else 0
    if request.dialog.question is not None and not lead:
        return None  # perhaps an answer
    copulas = request.language.table("property_values")["copulas"]
    # "Ada is calm today" is no list of notes with the status "calm".
    asks = lead > 0 or is_question(request) or not any(token.key in copulas for token in words)
    sets = (described_set(request, words[start:], asks=asks) for start in {lead, 0})
    notes = next(filter(None, sets), None)
    notes = notes or (_nested(request, words[lead:]) if lead else None)
    if notes is None:
        return None
    return Reading((PipelineStep("find", notes),), _SCORE, language=request.language.code, verb_words=1)


def asking_lead(request: Request, tokens: Sequence[Token]) -> tuple[str, int]:
    """Return whether the first words list notes or count them (`find`, `count`), and the position after them.

    Without such words, return `find` and 0.
    """
    leads = [
        (match.end, frame.action)
        for frame in request.frames
        if frame.action in ("find", "count")
        for phrase in frame.say
        if (match := phrase.longest_match(tokens, 0)) and match.gap_start < 0
    ]
    end, action = max(leads, default=(0, "find"))
    return action, end


def _counted(request: Request, words: Sequence[Token]) -> Reading | None:
    """Return the number of notes with a nested tag: "how many owls do we have?"; None for other words."""
    action, start = asking_lead(request, words)
    rest = [token for token in words[start:] if not is_plain_word(request, token)]
    nested = _nested(request, rest) if action == "count" and action in request.allowed else None
    if nested is None:
        return None
    step = PipelineStep("count", NoteSet(query=nested.query.partition(" OR ")[0]))
    return Reading((step,), _SCORE, language=request.language.code, verb_words=1)


def _nested(request: Request, words: Sequence[Token]) -> NoteSet | None:
    """Return the notes with a nested tag, or with it in their names: "list owls" with `bird/owl`."""
    vocabulary, plain = request.vocabulary, request.language.words("determiners")
    named = [token for token in words if token.key not in plain]
    if len(named) != 1 or not named[0].is_word or vocabulary.has_name(named[0].value):
        return None
    tag = vocabulary.find_nested_tag(named[0].value)
    if tag is None:
        return None
    return NoteSet(query=f"tag:{quote_value(tag)} OR file:{quote_value(tag.rpartition('/')[2])}")


def with_described_sets(request: Request, interpretation: Interpretation) -> Interpretation:
    """Return a change with all the conditions that the request names for its notes.

    "Move all clippings that are read" moves no other clippings. A question loses the options that leave out
    a condition. Other interpretations are returned unchanged.
    """
    match interpretation:
        case Reading():
            options: tuple[ClarificationOption, ...] = (ClarificationOption("", interpretation),)
        case Clarification(options=(_, *_)) if interpretation.partial is None:
            options = (*interpretation.options, *interpretation.spare)
        case _:
            return interpretation
    if not request.writes(options[0].reading):
        return interpretation
    span = next(_described_spans(request), None)
    if span is None:
        return interpretation
    described, words, others = span
    completed: list[ClarificationOption] = []
    for option in options:
        reading = _with_set(request, option.reading, described)
        is_known = any(reading.has_same_steps(known.reading) for known in completed)
        # In "delete all vegetarian mains", `vegetarian` is no property to remove.
        values = {str(value).casefold() for value in reading.last.arguments.values()}
        has_own_values = values.isdisjoint(words)
        if not is_known and (has_own_values or reading.last.target != described):
            label = option.label if reading is option.reading else serialize(reading)
            completed.append(replace(option, label=label, reading=reading))
    complete = [option for option in completed if option.reading.last.target == described]
    if not complete or complete[0].reading.has_same_steps(options[0].reading):
        return interpretation
    is_deletion = complete[0].reading.last.action == "delete"
    says_all = any(token.key in request.language.words("universal") for token in request.tokens)
    is_only = len(complete) == 1 and says_all and not is_deletion
    if is_only and accounts_for_all(replace(request, tokens=others), complete[0].reading):
        return replace(complete[0].reading, is_certain=True)
    return with_options(Clarification("", ()), complete)


def _with_set(request: Request, reading: Reading, described: NoteSet) -> Reading:
    """Return a change of some of the conditions as the change of the notes with all of them."""
    step = reading.last
    target = step.target
    if len(reading.steps) > 1 or target is None or not request.writes(reading):
        return reading
    if target != NoteSet(query=target.query) or target == described:
        return reading
    wanted = {_plain(part) for part in top_level_parts(described.query)}
    known = {_plain(part) for part in top_level_parts(target.query)} - {request.vocabulary.excluded_templates}
    if not known or not known <= wanted:
        return reading
    return replace(reading, steps=(replace(step, target=described),))


def _plain(condition: str) -> str:
    """Return a condition without its sign and state, so that the opposite of a checkbox is the same."""
    return condition.removeprefix("-").replace(":false]", ":true]").casefold()


def _described_spans(request: Request) -> Iterator[tuple[NoteSet, set[str], tuple[Token, ...]]]:
    """Yield the sets that words of a request describe, the one with the most words first.

    Each has its words and the other tokens of the request.
    """
    tokens = request.tokens
    spans = sorted(
        (
            (start, end)
            for start in range(len(tokens))
            for end in range(start + 2, min(len(tokens), start + _MAX_SPAN) + 1)
        ),
        key=lambda span: span[0] - span[1],
    )
    for start, end in spans:
        if tokens[start].kind != "mark" and (found := described_set(request, tokens[start:end])):
            yield found, {token.key for token in tokens[start:end]}, (*tokens[:start], *tokens[end:])


def described_set(request: Request, tokens: Sequence[Token], *, asks: bool = False) -> NoteSet | None:
    """Return the notes that all tokens describe by at least two conditions; None for other words.

    If it `asks` for notes, a person ("what does Ada own?") or "who" with a checkbox is enough. The conditions
    are kinds of notes, values and checkboxes. A checkbox that is not set may also be missing,
    if a kind or a list limits the notes.
    """
    if not any(token.is_word for token in tokens) or request.set_parser().find_named(tokens):
        return None
    is_about_person = asks and tokens[0].key in request.language.words("person_questions")
    return _Description(request, tokens, asks, min_conditions=1 if is_about_person else 2).parse()


@dataclass(slots=True)
class _Description:
    """The conditions that words name, read from left to right."""

    request: Request
    tokens: Sequence[Token]
    asks: bool
    min_conditions: int
    conditions: tuple[str, ...] = ()
    conjunction: str = ""  # "and" or "or" after the last condition
    is_negated: bool = False  # by "not" after the last condition
    is_stated: bool = False  # by more than a kind of notes
    has_pronoun: bool = False  # for the last list

    def parse(self) -> NoteSet | None:
        """Return the notes that meet the conditions; None if they are too few, or a word is none of them."""
        position: int | None = 0
        while position is not None and position < len(self.tokens):
            position = self._read(position)
        if position is None or self.is_negated or self.conjunction or not self.is_stated:
            return None
        dialog = self.request.dialog
        is_of_list = self.has_pronoun and dialog.has_list and len(dialog.them) < MAX_RESULTS
        is_enough = is_of_list and self.conditions[0].startswith("-")
        if len(self.conditions) < (1 if is_enough else self.min_conditions):
            return None
        if not is_of_list and all(part.startswith("-") for part in self.conditions):
            return None
        kinds_first = sorted(self.conditions, key=lambda part: condition_slots(part) != {"kind"})
        query = " ".join(self.request.vocabulary.without_templates(kinds_first))
        return NoteSet(query=query, source="previous" if is_of_list else "")

    def _read(self, position: int) -> int | None:
        """Read the words at a position; return the position after them, or None if they don't fit."""
        request, tokens = self.request, self.tokens
        if (after := request.language.match_prefix(tokens, position, "described_sets", "not")) > position:
            is_repeated, self.is_negated = self.is_negated, True
            return None if is_repeated else after
        if (excepted := self._exception(position)) is not None:
            self.conditions += (f"-{excepted.query}",)
            self.is_stated = True
            return excepted.end
        for conjunction in ("or", "and") if self.conditions else ():
            if (after := request.language.match_prefix(tokens, position, conjunction)) > position:
                is_repeated, self.conjunction = bool(self.conjunction), conjunction
                return None if is_repeated else after
        part = described_part(request, tokens, position)
        part = part or (_near_value(request, tokens, position) if self.asks else None)
        if part is not None:
            return part.end if self._add(part) else None
        if not is_plain_word(request, tokens[position], asks=self.asks):
            return None
        self.has_pronoun |= tokens[position].key in request.language.words("result_pronouns")
        return position + 1

    def _exception(self, position: int) -> QueryPart | None:
        """Return the note that words after a condition exclude ("but not the gimbal"); None for others."""
        if not self.conditions or self.is_negated or self.conjunction:
            return None
        after = self.request.language.match_prefix(self.tokens, position, "not")
        if not position < after < len(self.tokens):
            return None
        return self.request.set_parser().excepted(self.tokens, after, self.conditions[0])

    def _add(self, part: DescribedPart) -> bool:
        """Add a condition; return whether it fits those before it."""
        if self.conditions and (stated := _of_same_property(self.conditions[-1], part.query)):
            # "Don't deliver on Friday": the checkbox `delivery` is only the verb of `delivery_days`.
            self.is_negated |= self.conditions[-1].startswith("-")
            self.conditions, part = self.conditions[:-1], replace(part, query=stated)
        query = f"-{part.query}" if self.is_negated else part.query
        is_checkbox = query.endswith(":true]")
        if is_checkbox and not {part.query, f"-{part.query}"}.isdisjoint(self.conditions):
            self.is_negated = False
            return True  # another word of its name: "have not paid the fee"
        if _PRESENCE.fullmatch(query):
            return False  # "which stories are due?" asks for those due soon
        same = [known for known in self.conditions if condition_slots(known) == condition_slots(query)]
        if part.is_stated and part.query.startswith("tag:") and self.conjunction != "or":
            same = []  # notes of a kind may have any tag
        if same and not part.is_stated and self.conjunction != "or":
            return False  # two kinds
        if self.conjunction == "or" or (same and ":" in query and not is_checkbox):
            # "Italian or French", "Italian and French mains"
            if not self.conjunction or self.is_negated or not same or same[-1] != self.conditions[-1]:
                return False
            self.conditions = (*self.conditions[:-1], *_alternatives(same[-1], query))
        else:
            self.conditions += (query,)
        if self.asks and part.is_person:
            self.min_conditions = 1
        elif not is_checkbox:
            self.min_conditions = 2
        self.is_stated |= part.is_stated
        self.is_negated, self.conjunction = False, ""
        return True


def _of_same_property(checkbox: str, values: str) -> str:
    """Return those of some values whose property has a longer name than a checkbox; empty without one.

    The name begins with that of the checkbox: `delivery_days` and `delivery`.
    """
    name = checkbox.removeprefix("-").removesuffix(":true]")
    if not checkbox.endswith(":true]"):
        return ""
    own = [value for value in values.strip("()").split(" OR ") if re.match(rf"{re.escape(name)}[ _-]", value)]
    return " OR ".join(own)


def _alternatives(first: str, second: str) -> tuple[str, ...]:
    """Return the conditions of "Italian or French", or those of "not Italian or French", which is neither."""
    if first.startswith("-"):
        return first, f"-{second}"
    return (f"({first.strip('()')} OR {second.strip('()')})",)


def is_plain_word(request: Request, token: Token, *, asks: bool = False) -> bool:
    """Return whether a word says nothing about the notes, or nothing in a request that `asks` for them."""
    language, table = request.language, request.language.table("described_sets")
    plain = language.words("determiners") | language.words("universal") | language.words("note_nouns")
    return token.key in plain | {*table["plain"], *(table["asked"] if asks else ())}


def _near_value(request: Request, tokens: Sequence[Token], position: int) -> DescribedPart | None:
    """Return the condition on the value of which a word is another form ("monitored"), or None."""
    token, language, vocabulary = tokens[position], request.language, request.vocabulary
    synonyms = language.table("value_synonyms").get(token.key, ())
    found = {value for word in synonyms if (value := vocabulary.find_value(word))}
    is_known = token.key in language.function_words() | language.vocabulary()
    value = found.pop() if len(found) == 1 else None
    is_known = is_known or not token.is_word or vocabulary.find_nested_tag(token.key) is not None
    value = value or (None if is_known else vocabulary.find_listed_value(token.key))
    return DescribedPart(value, position + 1) if value and condition_slots(value) != {"kind"} else None


def described_part(request: Request, tokens: Sequence[Token], position: int) -> DescribedPart | None:
    """Return the condition that starts at a token: a checkbox, a value or a kind; None for other words."""
    token, sets, vocabulary = tokens[position], request.set_parser(), request.vocabulary
    if not token.is_word:
        return None
    if maker := sets.made_by_subject(tokens, position):
        return DescribedPart(maker.query, maker.end, is_person=True)
    if is_plain_word(request, token):
        return None
    for end in range(min(len(tokens), position + _MAX_VALUE_WORDS), position + 1, -1):
        part = tokens[position:end]
        is_name = all(own.is_word for own in part)
        text = span_text(request.text, tuple(part)) if is_name else ""
        if text and (value := vocabulary.find_value(text)):
            return DescribedPart(value, end, condition_slots(value) != {"kind"})
        if text and vocabulary.is_checkbox(name := vocabulary.find_property(text) or ""):
            return DescribedPart(f"{_field(name)}:true]", end)
    lead = request.language.match_prefix(tokens, position, "described_sets", "tag_leads")
    if position < lead < len(tokens) and tokens[lead].is_word:
        tag = vocabulary.find_tag(tokens[lead].key) if lead == len(tokens) - 1 else None
        is_folder = vocabulary.find_folder(tokens[lead].key) is not None
        return DescribedPart(f"tag:{quote_value(tag)}", lead + 1) if tag and not is_folder else None
    checkbox = _spelled_checkbox(request, tokens, token) or mark_condition(request, token)
    value = next(filter(None, map(vocabulary.find_value, _forms(request, token))), None)
    kind = sets.condition_of(token)
    if kind is not None and condition_slots(kind.query) == {"kind"}:
        if checkbox or (value and value != kind.query and "[" in kind.query):
            return None
        return DescribedPart(kind.query, position + 1, is_stated=False)
    names = (request.language.property_name(token.key, vocabulary.find_property), token.key)
    if value is not None and any(name and vocabulary.find_property(name) for name in names):
        return None  # "due" may be a value and a property
    if checkbox:
        return DescribedPart(checkbox, position + 1) if value is None else None
    if value is not None:
        return DescribedPart(value, position + 1, condition_slots(value) != {"kind"})
    is_known = token.key in request.language.function_words() | request.language.vocabulary()
    in_part = "" if is_known else vocabulary.search_for_values_with(token.key)
    return DescribedPart(in_part, position + 1) if in_part else None


def _spelled_checkbox(request: Request, tokens: Sequence[Token], token: Token) -> str:
    """Return the condition on the only checkbox all of whose words are said ("paid the fee"), or no text."""
    said = {own.key for own in tokens}
    names = [own.name for own in request.vocabulary.fields if request.vocabulary.is_checkbox(own.name)]
    parts = {name: set(name_words(name_key(name))) for name in names}
    spelled = [name for name in names if len(parts[name]) > 1 and parts[name] <= said]
    return f"{_field(spelled[0])}:true]" if len(spelled) == 1 and token.key in parts[spelled[0]] else ""


def mark_condition(request: Request, token: Token) -> str:
    """Return the condition on the checkbox or day that a word names or negates ("unpaid"), or no text."""
    for form in _forms(request, token):
        if condition := _condition_on_mark(request, form):
            return condition
        for prefix in request.language.table("described_sets")["prefixes"]:
            rest = form.removeprefix(prefix)
            if rest == form:
                continue
            if condition := _condition_on_mark(request, rest) or _presence_of_number(request, rest):
                return f"-{condition}"
    return ""


def _condition_on_mark(request: Request, word: str) -> str:
    """Return the condition that a checkbox is set, or that a day is given; an empty text for other words.

    A "paid" invoice has `paid: true` or a day in `paid`, and a "cooked" recipe a day in `last-cooked`.
    """
    vocabulary, language = request.vocabulary, request.language
    implied = [name for name, words in language.table("property_cues").items() if word in words]
    known = (
        language.property_name(word, vocabulary.find_property),
        *map(vocabulary.find_property, (word, *implied)),
    )
    names = [name for name in dict.fromkeys(known) if name]
    parts = [field.name for field in vocabulary.fields if word in name_words(name_key(field.name))]
    for name in (*names, *(parts if len(parts) == 1 else ())):
        if vocabulary.is_checkbox(name):
            return f"{_field(name)}:true]"
        is_day = any(field.name == name and field.dates > _MIN_DAYS for field in vocabulary.fields)
        if is_day and name_key(name) not in language.words("due_properties"):
            return f"{_field(name)}]"
    return checkbox_like(request, word)


def checkbox_like(request: Request, word: str) -> str:
    """Return the condition that the only checkbox is set whose name begins like a word: "vegetarisch".

    Return an empty text for other words.
    """
    if len(word) < _MIN_COGNATE_LENGTH:
        return ""
    vocabulary, cognates = request.vocabulary, []
    for field in vocabulary.fields:
        pairs = zip(name_key(field.name), word, strict=False)
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        is_cognate = common >= max(_MIN_COGNATE * len(field.name), _MIN_COGNATE * len(word))
        if is_cognate and vocabulary.is_checkbox(field.name):
            cognates.append(field.name)
    return f"{_field(cognates[0])}:true]" if len(cognates) == 1 else ""


def _presence_of_number(request: Request, word: str) -> str:
    """Return the condition that notes have the only number that a word may mean: "rated", or no text."""
    related = request.vocabulary.find_related_property(word) or ""
    implied = {name_key(name) for name in (related, *request.language.implied_properties({word}))}
    names = [
        field.name
        for field in request.vocabulary.fields
        if name_key(field.name) in implied and field.numbers > _MIN_NUMBERS
    ]
    return f"{_field(names[0])}]" if len(names) == 1 else ""


def _forms(request: Request, token: Token) -> list[str]:
    """Return a word, and the word without the ending of an adjective: "bezahlt" for "bezahlte"."""
    endings = request.language.table("described_sets")["endings"]
    stems = [token.key.removesuffix(ending) for ending in endings if token.key.endswith(ending)]
    return [token.key, *(stem for stem in stems if len(stem) >= _MIN_COGNATE_LENGTH - 1)]


def _field(name: str) -> str:
    return f'["{name}"' if " " in name else f"[{name}"
