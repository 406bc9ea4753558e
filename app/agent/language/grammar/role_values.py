"""Parse words as the value of a role of a given kind: notes, tags, a folder, text and so on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from app.agent.language.grammar.note_references import CUED_FIT, UNKNOWN_FIT, ParsedSet
from app.agent.language.grammar.note_sets import NoteSetParser
from app.agent.language.meaning.actions import FOLDER_ACTIONS, Action
from app.agent.language.meaning.readings import NoteSet
from app.agent.language.words.lexicon import ActionFrame, Language
from app.agent.language.words.text_lists import split_items
from app.agent.language.words.tokens import Token, span_text, written_text
from app.agent.language.words.vocabulary import Vocabulary
from app.index.query_serializer import quote_text

_MAX_NAME_TOKENS = 14
_MAX_PROPERTY_WORDS = 4
_MAX_RELATION_WORDS = 3
_NEAR_CHANGE_FIT = 0.55
"""The fit of an approximately matching name in a change: low enough that the agent asks."""
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?[%k]?\)?")
_LEADING_DOTS = re.compile(r"(?<!\S)\.+\Z")
_END_MARKS = re.compile(r"[.?!…]+")

Values = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RoleBinding:
    """Role values found in a span of words, and how well the words fit (0 to 1).

    Words may fill several roles: "H4's status" names a note and a property. `is_certain` is False for
    ambiguous words: the agent asks before it uses them in a change.
    """

    values: Values
    fit: float
    unexplained: tuple[str, ...] = ()
    is_certain: bool = True


class RoleValueParser:
    """Parse words as the values of roles.

    Args:
        request: The request's text.
        language: The lexicon of its language.
        vocabulary: The vocabulary of the vault.
        sets: The parser of noun phrases.
    """

    def __init__(self, request: str, language: Language, vocabulary: Vocabulary, sets: NoteSetParser) -> None:
        self._request = request
        self._language = language
        self._vocabulary = vocabulary
        self._sets = sets
        self._parsed_sets: dict[tuple[int, int], ParsedSet | None] = {}

    def parse(
        self, action: Action, frame: ActionFrame, role: str, tokens: Sequence[Token]
    ) -> RoleBinding | None:
        """Parse words as the value of a role; None if they do not fit."""
        tokens = trim_marks(tokens)
        if not tokens:
            return None
        match action.kind(role):
            case "notes":
                return self._notes(action, role, tokens)
            case "note":
                return self._note(role, tokens)
            case "tags":
                return self._tags(frame, role, tokens)
            case "folder":
                return self._folder(role, tokens)
            case "name":
                return self._name(action, role, tokens)
            case "text":
                return self._text(action, role, tokens)
            case "heading":
                return self._heading(role, tokens)
            case "property":
                return self._property(action, role, tokens)
            case "property_name":
                return self._property_name(frame, role, tokens)
            case "value":
                return self._property_value(role, tokens)
            case "type":
                return self._type(role, tokens)
            case "relation":
                kind = self.relation_of(tokens)
                return RoleBinding({role: kind}, 1.0) if kind else self._new_relation(role, tokens)
            case "number":
                return self._number(role, tokens)
            case "days":
                dates = self._sets.dates
                is_new = action.id == "reschedule_task"
                span = dates.due_days(tokens) if is_new else dates.days_ahead(tokens)
                return RoleBinding({role: span}, 1.0) if span else None
            case "fact":
                known = self._known_property(tokens[0]) if len(tokens) == 1 else None
                return RoleBinding({role: known}, 1.0) if known else None
            case "query":
                start = 0
                start = self._language.after_determiners(tokens, start, len(tokens) - 1)
                return RoleBinding({role: self._raw(tokens[start:])}, 0.85)

    def _raw(self, tokens: Sequence[Token]) -> str:
        return span_text(self._request, tuple(tokens)).strip()

    def _written(self, tokens: Sequence[Token]) -> str:
        return written_text(self._request, tuple(tokens)).strip()

    def _dots_before(self, tokens: Sequence[Token]) -> str:
        """Return the dots that belong to a name although they are marks: ".hidden", "../Folder"."""
        match = _LEADING_DOTS.search(self._request, 0, tokens[0].start)
        return match[0] if match and tokens[0].is_word else ""

    def _notes(self, action: Action, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        key = (tokens[0].start, tokens[-1].end)
        if key not in self._parsed_sets:
            self._parsed_sets[key] = self._sets.parse(tokens)
        parsed = self._parsed_sets[key]
        if parsed is None:
            return None
        notes, fit = parsed.notes, parsed.fit
        is_search = action.id in ("find", "count")
        if not is_search and not notes.notes and (described := self._sets.find_described(tokens)):
            return RoleBinding({role: described.notes}, described.fit, is_certain=described.is_certain)
        if action.writes and notes.is_everything and not self._sets.says_everything(tokens):
            # Words such as "the start page" are a name and never mean every note.
            name = " " if self._is_generic_noun(tokens) else self._raw(tokens)
            return RoleBinding({role: NoteSet(unknown=name)}, UNKNOWN_FIT)
        if notes.is_everything and (single := self._single_note(tokens)):
            # "Show me the note" never means every note.
            one = self._sets.parse_reference(single)
            return RoleBinding({role: one.notes}, one.fit) if one is not None else None
        if is_search and len(notes.notes) == 1 and self._sets.parse_reference(tokens) is None:
            words = [token for token in tokens if token.kind != "mark"]
            fillers = self._language.words("fillers")
            content = [token for token in words if token.key not in fillers] or words
            query = " ".join(
                quote_text(token.value)
                if token.kind == "quoted" or not token.value.isalnum()
                else token.value
                for token in content
            )
            return RoleBinding({role: NoteSet(query=query)}, 0.9, is_certain=False)
        if is_search and notes.unknown.strip():
            return None
        if is_search and notes.is_everything and not notes.order and not parsed.has_head:
            return None  # only function words, which name no notes
        names_notes = bool(notes.notes or notes.source)
        if not is_search and not names_notes and not notes.unknown and not parsed.has_head:
            name = self._raw(tokens)
            return RoleBinding({role: NoteSet(unknown=name, candidates=notes.candidates)}, UNKNOWN_FIT)
        has_conditions = re.search(r"[:\[\]]", notes.query) is not None
        if not is_search and notes.query and not has_conditions and not names_notes:
            near = self._sets.find_similar(tokens)
            if near is not None and near.notes.notes:
                return RoleBinding({role: near.notes}, near.fit)
        if action.writes and parsed.is_near:
            fit = _NEAR_CHANGE_FIT
        if action.writes and parsed.has_bare_topic:
            fit *= 0.5
        if role == "other" and not notes.is_single:
            return None
        is_unambiguous = parsed.is_certain or (notes.limit is not None and not action.writes)
        is_certain = fit >= CUED_FIT and not parsed.has_bare_topic and is_unambiguous
        return RoleBinding({role: notes}, fit, parsed.unexplained, is_certain)

    def _note(self, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        parsed = self._sets.parse_reference(tokens) or self._sets.find_named(tokens)
        if parsed is not None and (len(parsed.notes.notes) == 1 or parsed.notes.source):
            return RoleBinding({role: parsed.notes}, parsed.fit)
        near = self._sets.find_similar(tokens)
        return RoleBinding({role: near.notes}, near.fit, is_certain=False) if near else None

    def _tags(self, frame: ActionFrame, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        language = self._language
        determiners = language.words("determiners")
        if (
            len(tokens) == 1
            and tokens[0].is_word
            and tokens[0].key in determiners | language.words("fillers")
        ):
            return None
        tags: list[str] = []
        fit, position, is_certain = 1.0, 0, True
        while position < len(tokens):
            token = tokens[position]
            after = language.match_prefix(tokens, position, "and")
            if token.kind == "mark" or after > position:
                position = max(after, position + 1)
                continue
            if len(tokens) > 1 and token.is_word and token.key in determiners | language.words("tag_nouns"):
                position += 1
                continue
            if token.is_word and token.key in language.words("result_nouns") | language.words("note_nouns"):
                return None
            if token.kind == "tag":
                tags.append(token.value)
            elif token.kind in ("word", "quoted"):
                if (
                    tags
                    and language.match_prefix(tokens, position - 1, "and") == position - 1
                    and tokens[position - 1].key != ","
                ):
                    return None  # two adjacent words are not a list of tags
                known = self._vocabulary.find_own_tag(token.value)
                if role == "new_tag" and known is not None and known.casefold() != token.value.casefold():
                    known = None  # a new tag keeps the user's spelling
                if frame.known:
                    if known is None:
                        return None
                    fit = min(fit, 0.75)
                elif known is None:
                    fit = min(fit, 0.9 if token.kind == "quoted" else 0.85)
                    is_certain = is_certain and token.kind == "quoted"
                tags.append(known or token.value)
            else:
                return None
            position += 1
        return RoleBinding({role: tuple(dict.fromkeys(tags))}, fit, is_certain=is_certain) if tags else None

    def _folder(self, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        nouns = self._language.words("folder_nouns")
        position, end = 0, len(tokens)
        ignored = self._language.words("determiners") | self._language.words("new_words")
        while position < end - 1 and tokens[position].key in ignored:
            position += 1
        is_named = False
        while position < end - 1 and tokens[position].key in nouns:
            position, is_named = position + 1, True
        after = self._language.match_prefix(tokens, position, "name_leads")
        if position < after < end:
            position, is_named = after, True
        while end - 1 > position and tokens[end - 1].key in nouns:
            end, is_named = end - 1, True
        part = tokens[position:end]
        if role == "parent" and self._language.matches_phrase(tokens, "folders", "root"):
            return RoleBinding({role: "/"}, 1.0)
        if len(part) > 6 or part[0].key in ignored:
            return None
        dots = self._dots_before(part)
        text = dots + (part[0].value if len(part) == 1 else self._raw(part))
        if not dots and (known := self._vocabulary.find_similar_folder(text.strip("/"))):
            return RoleBinding({role: known}, 1.0)
        if part[0].kind in ("link", "tag") or self._is_pronoun(part):
            return None
        if not is_named and part[0].kind != "quoted" and self._vocabulary.notes(text):
            return None
        is_certain = is_named or "/" in text or part[0].kind == "quoted"
        folder = self._vocabulary.with_known_parent(text.strip("/"))
        return RoleBinding({role: folder}, 0.85 if is_certain else 0.55, is_certain=is_certain)

    def _is_pronoun(self, tokens: Sequence[Token]) -> bool:
        """Return whether the words are a pronoun, which is neither a name nor text."""
        return any(self._language.matches_phrase(tokens, name) for name in ("it", "this", "them", "both"))

    def _single_note(self, tokens: Sequence[Token]) -> Sequence[Token]:
        """Return the tokens of "the note" after fillers ("me the note"); none if they say something else."""
        fillers = self._language.words("fillers") - self._language.words("determiners")
        start = 0
        while start < len(tokens) and tokens[start].key in fillers:
            start += 1
        return tokens[start:] if self._language.matches_phrase(tokens[start:], "one_note") else ()

    def _is_generic_noun(self, tokens: Sequence[Token]) -> bool:
        """Return whether the words are only a generic noun: "a note", "the text"."""
        language = self._language
        generic_words = (
            language.words("determiners") | language.words("note_nouns") | language.words("text_nouns")
        )
        generic_words |= language.words("tag_nouns")
        return all(token.is_word and token.key in generic_words for token in tokens)

    def _name(self, action: Action, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        # Folders, unlike notes, often have generic names: Notes, Articles.
        is_generic = action.id not in FOLDER_ACTIONS and self._is_generic_noun(tokens)
        if is_generic or self._is_pronoun(tokens) or len(tokens) > _MAX_NAME_TOKENS:
            return None
        dots = self._dots_before(tokens)
        if len(tokens) == 1:
            token = tokens[0]
            if token.kind == "tag":
                return None
            is_marked = token.kind in ("quoted", "link")
            return RoleBinding({role: dots + token.value}, 1.0 if is_marked else 0.9, is_certain=is_marked)
        if any(token.kind in ("quoted", "link", "tag") for token in tokens):
            return None
        fit = 0.95 - 0.03 * len(tokens)
        if role == "name" and tokens[0].key in self._language.verbs():
            fit *= 0.6  # more likely a request, such as "mach eine", than a name
        nouns = self._language.words("introduces_property") | self._language.words("introduces_folder")
        if role == "new_name" and tokens[0].key in self._language.words("determiners"):
            fit *= 0.6 if tokens[1].key in nouns else 1.0  # "rename the property status"
        return RoleBinding({role: dots + self._raw(tokens)}, fit, is_certain=False)

    def _text(self, action: Action, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        if self._is_generic_noun(tokens) or self._is_pronoun(tokens):
            return None
        *before, last = tokens
        fillers = self._language.words("fillers") | self._language.words("text_nouns")
        if last.kind == "quoted" and all(token.key in fillers or token.kind == "mark" for token in before):
            return RoleBinding({role: last.value}, 1.0)
        first = tokens[0]
        if first.kind == "quoted" and all(token.key in fillers for token in tokens[1:]):
            return RoleBinding({role: first.value}, 1.0)
        text = self._written(tokens) + self._marks_after(tokens)
        fit = 0.8
        is_certain = not any(token.key in self._command_words for token in tokens)
        if action.id == "create_note" and split_items(self._request, tokens, self._language):
            fit = 0.95
        if action.id in ("add_tag", "remove_tag") or self._sets.parse_reference(tokens) is not None:
            return None
        if any(token.kind == "quoted" for token in tokens):
            return RoleBinding({role: text}, 0.4, is_certain=False)
        if role == "old":
            fit = 0.75 if len(tokens) <= 6 else 0.55
            is_certain = len(tokens) == 1
            if tokens[0].key in self._language.words("determiners") and len(tokens) > 1:
                text = self._raw(tokens[1:])
        return RoleBinding({role: text}, fit, is_certain=is_certain)

    def _marks_after(self, tokens: Sequence[Token]) -> str:
        """Return the marks that end the request after a text introduced by a colon: "add a line: why?"."""
        before, after = self._request[: tokens[0].start], self._request[tokens[-1].end :].strip()
        return after if before.rstrip().endswith(":") and _END_MARKS.fullmatch(after) else ""

    @cached_property
    def _command_words(self) -> frozenset[str]:
        """Words used in commands: in unquoted text, they may belong to the request instead of the text."""
        language = self._language
        words = language.verbs() | language.words("narrating")
        for name in ("note_nouns", "tag_nouns", "folder_nouns", "text_nouns", "question_words"):
            words |= language.words(name)
        return words

    def _heading(self, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        position = 0
        position = self._language.after_determiners(tokens, position, len(tokens) - 1)
        part = tokens[position:]
        if len(part) > 1 and part[-1].key in self._language.table("doubts")["places"]:
            part = part[:-1]  # "the heading Angle here"
        if len(part) > 8:
            return None
        text = part[0].value if len(part) == 1 else self._raw(part)
        return RoleBinding({role: text.lstrip("# ")}, 0.85)

    def _property(self, action: Action, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        """Parse a property, with its note ("H4's status") or its value ("status done")."""
        position = 0
        position = self._language.after_determiners(tokens, position, len(tokens) - 1)
        part = tokens[position:]
        owner: NoteSet | None = None
        for index, token in enumerate(part[:-1]):
            if token.is_word and token.value.endswith(("'s", "’s")) and index < 8:
                possessor = replace(token, value=token.value[:-2], key=token.key[:-2], end=token.end - 2)
                name = (*part[:index], possessor)
                parsed = self._sets.parse_reference(name) or self._sets.find_named(name)
                if parsed is not None and parsed.notes.notes:
                    owner, part = parsed.notes, part[index + 1 :]
                    break
        values: dict[str, object] = {} if owner is None else {"target": owner}
        first = part[0]
        if first.kind not in ("word", "quoted") or first.key in self._language.words("tag_nouns"):
            return None
        known = self._known_property(first)
        if not known and self._is_pronoun(tokens):
            return None
        if len(part) == 1:
            is_certain = bool(known or owner) or first.kind == "quoted"
            fit = 1.0 if known else 0.8 if is_certain else 0.6
            return RoleBinding({**values, role: known or first.value}, fit, is_certain=is_certain)
        if known and "value" in action.needs:
            rest = part[self._language.match_prefix(part, 1, "comparisons", "=") :]
            bound = self._property_value("value", rest) if rest else None
            if bound is not None and (rest[0].kind == "quoted" or len(rest) <= 2):
                return RoleBinding(
                    {**values, role: known, **bound.values}, 0.85 * bound.fit, is_certain=bound.is_certain
                )
        return None

    def _property_name(self, frame: ActionFrame, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        """Parse the whole name of a property, which may be new and have several words."""
        position = 0
        position = self._language.after_determiners(tokens, position, len(tokens) - 1)
        part = tokens[position:]
        if len(part) > _MAX_PROPERTY_WORDS or any(token.kind not in ("word", "quoted") for token in part):
            return None
        name = part[0].value if len(part) == 1 else self._raw(part)
        if known := self._vocabulary.find_property(name):
            # A new name keeps the user's spelling.
            # "Rename title to Tea" may mean the title of a note.
            is_certain = not (frame.known and role == "key")
            return RoleBinding({role: known if role == "key" else name}, 1.0, is_certain=is_certain)
        if frame.known and role == "key":
            return None
        is_quoted = len(part) == 1 and part[0].kind == "quoted"
        return RoleBinding({role: name}, 0.9 if is_quoted else 0.8, is_certain=is_quoted)

    def _known_property(self, token: Token) -> str | None:
        known = self._vocabulary.find_property
        return self._language.property_name(token.key, known) or known(token.value)

    def _property_value(self, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        if (day := self._sets.day(tokens)) is not None:
            return RoleBinding({role: day.isoformat()}, 1.0)
        if len(tokens) == 1:
            token = tokens[0]
            plain = self._language.plain_number(token.value.rstrip(")")) if token.is_word else None
            if plain is not None and _NUMBER.fullmatch(token.value):
                is_integer = "." not in plain
                return RoleBinding({role: int(plain) if is_integer else float(plain)}, 1.0)
            # A link is written with its brackets.
            value = self._raw(tokens) if token.kind == "link" else token.value
            return RoleBinding({role: value}, 1.0 if token.kind == "quoted" else 0.9)
        if len(tokens) > 8 or tokens[0].kind == "tag":
            return None
        return RoleBinding({role: self._written(tokens)}, 0.8, is_certain=len(tokens) <= 3)

    def _type(self, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        part = [token for token in tokens if token.key not in self._language.words("determiners")]
        if len(part) != 1 or (not part[0].is_word and part[0].kind != "quoted"):
            return None
        known = self._vocabulary.find_type(part[0].value)
        is_certain = known is not None or not part[0].is_word
        fit = 1.0 if known else 0.9 if is_certain else 0.7
        return RoleBinding({role: known or part[0].value}, fit, is_certain=is_certain)

    def relation_of(self, tokens: Sequence[Token]) -> str | None:
        """Return the type of relation that the words name, or None."""
        bare = [token for token in tokens if token.key not in self._language.words("determiners")]
        for kind, phrases in self._language.relations.items():
            if any(phrase.matches_all(tokens) or phrase.matches_all(bare) for phrase in phrases):
                return kind
        if len(bare) == 1 and bare[0].kind in ("quoted", "word") and "_" in bare[0].value:
            return bare[0].value.casefold()
        return None

    def _new_relation(self, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        """Parse a type of relation that the language's data file does not list: "as made by"."""
        words = [token for token in tokens if token.key not in self._language.words("determiners")]
        if not 1 <= len(words) <= _MAX_RELATION_WORDS or not all(
            token.is_word and token.key.isalpha() for token in words
        ):
            return None
        return RoleBinding({role: "_".join(token.key for token in words)}, 0.85, is_certain=False)

    def _number(self, role: str, tokens: Sequence[Token]) -> RoleBinding | None:
        degrees = self._language.table("confidences")
        ignored = self._language.words("fillers") | self._language.words("degrees")
        part = [token for token in tokens if token.kind != "mark" and token.key not in ignored]
        if len(part) != 1:
            return None
        text = part[0].value.rstrip(")")
        if _NUMBER.fullmatch(text) and (plain := self._language.plain_number(text)) is not None:
            value = float(plain)
            value = value / 100 if value > 1 else value
            return RoleBinding({role: value}, 1.0) if 0 <= value <= 1 else None
        if part[0].key in degrees:
            return RoleBinding({role: float(degrees[part[0].key])}, 0.9)
        return None


def trim_marks(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens without marks at either end, except a colon at the start."""
    start, end = 0, len(tokens)
    while start < end and tokens[start].kind == "mark" and tokens[start].key != ":":
        start += 1
    while end > start and tokens[end - 1].kind == "mark":
        end -= 1
    return tokens[start:end]
