"""Parse the places of new tasks and other texts: "under Next in H1", "in her note", "there"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.agent.language.grammar.request import Request
from app.agent.language.grammar.role_values import trim_marks
from app.agent.language.meaning.readings import NoteSet, PipelineStep
from app.agent.language.words.tokens import Token, span_text


@dataclass(frozen=True, slots=True)
class Place:
    """The note and the heading for a new text, as far as the request names them.

    Args:
        notes: The note.
        heading: The heading.
        is_certain: Whether no other note may be meant.
        is_pronoun: Whether a pronoun stands for the note: "in this note".
        edge: Where in the note: "start", "end", or no text.
    """

    notes: NoteSet | None = None
    heading: str = ""
    is_certain: bool = True
    is_pronoun: bool = False
    edge: str = ""

    def joined(self, other: Place) -> Place | None:
        """Return both places as one, or None if they name two notes or headings, or a section's start."""
        is_same_note = self.notes == other.notes or not (self.notes and other.notes)
        if not is_same_note or (self.heading and other.heading) or (self.edge and other.edge):
            return None
        is_certain = self.is_certain and other.is_certain
        is_pronoun = self.is_pronoun or other.is_pronoun
        heading, edge = self.heading or other.heading, self.edge or other.edge
        if heading and edge == "start":
            return None  # a text can only be added to the end of a section
        return Place(self.notes or other.notes, heading, is_certain, is_pronoun, edge)

    def step(self, text: object, notes: NoteSet | None) -> PipelineStep:
        """Return the step that adds a text at this place in a note."""
        if self.heading:
            return PipelineStep("append", notes, {"text": text, "heading": self.heading})
        return PipelineStep("prepend" if self.edge == "start" else "append", notes, {"text": text})


class PlaceParser:
    """Parses words as the note, and the heading in it, at which a text is added.

    Args:
        request: The request.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._language = request.language
        self._sets = request.set_parser()
        self._places: dict[tuple[Token, Token, int], Place | None] = {}
        self._named: dict[tuple[Token, Token, int], Place | None] = {}

    def parse(self, tokens: Sequence[Token]) -> Place | None:
        """Parse all tokens as places ("under Next in H1"); None for other words."""
        tokens = trim_marks(tokens)
        if not tokens:
            return Place()
        span = (tokens[0], tokens[-1], len(tokens))
        if span not in self._places:
            self._places[span] = self._find_place(tokens)
        return self._places[span]

    def parse_part_of_name(self, tokens: Sequence[Token]) -> Place | None:
        """Parse all tokens as a note that they name in part: "to the MacBook" for the only MacBook.

        "To the garage" names an unknown note if there is none, since no verb follows the article.
        """
        after = self._match(tokens, 0, "places")
        is_named = after < len(tokens) and tokens[after].value[:1].isupper()
        start = after
        start = self._language.after_determiners(tokens, start)
        words = tuple(tokens[start:])
        if after == 0 or not words or not (is_named or start > after):
            return None
        path = self._request.vocabulary.note_with_words(span_text(self._request.text, words))
        if path is not None:
            return Place(NoteSet(notes=(path,)))
        is_verb_lead = tokens[0].key in self._language.table("new_tasks")["infinitives"]
        similar = self._sets.find_similar(words) if is_verb_lead and start > after else None
        return Place(similar.notes, is_certain=bool(similar.notes.unknown)) if similar is not None else None

    def _find_place(self, tokens: Sequence[Token]) -> Place | None:
        for edge in ("start", "end"):
            for after in {self._match(tokens, 0, f"{edge}_of"), self._match(tokens, 0, edge)}:
                own = self._note(tokens[after:]) if after else None
                rest = own or (self.parse(tokens[after:]) if after else None)
                if rest is not None and (both := Place(edge=edge).joined(rest)) is not None:
                    return both
        if (section := self._section(tokens)) is not None:
            return section
        for name in ("adverbs", "places", "headings"):
            after = self._match(tokens, 0, name)
            if after == 0:
                continue
            if name == "adverbs":
                found = self._note(tokens[:after])
                if found is not None and (rest := self.parse(tokens[after:])) is not None:
                    return self._with_last_heading(found, tokens[0]).joined(rest)
                continue
            # The shortest heading leaves the most words for a note: "under Next in H1".
            for end in range(after + 1, len(tokens) + 1):
                found = self._note(tokens[after:end])
                if name == "headings" and found is None:
                    heading = span_text(self._request.text, tuple(tokens[after:end]))
                    found = Place(heading=heading.strip("\"'“”„# "))
                rest = self.parse(tokens[end:]) if found is not None else None
                if found is not None and rest is not None and (both := found.joined(rest)) is not None:
                    return both
        return None

    def _with_last_heading(self, place: Place, adverb: Token) -> Place:
        """Return a note with the heading that the last change gave it, for "there" but not for "here"."""
        last = self._request.dialog.last.last if self._request.dialog.last is not None else None
        heading = str(last.arguments.get("new_heading", "")) if last is not None else ""
        is_here = adverb.key in self._language.table("doubts")["places"]
        is_same = last is not None and heading != "" and last.target == place.notes
        return replace(place, heading=heading) if is_same and not is_here else place

    def _section(self, tokens: Sequence[Token]) -> Place | None:
        """Parse all tokens as a heading before its noun: "to the market section", perhaps with its note."""
        start = self._match(tokens, 0, "places")
        nouns = self._language.table("new_tasks")["section_nouns"]
        at = next((at for at, token in enumerate(tokens) if token.key in nouns), 0)
        while 0 < start < at and tokens[start].key in self._language.words("determiners"):
            start += 1
        if not 0 < start < at:
            return None
        heading = span_text(self._request.text, tuple(tokens[start:at])).strip("\"'“”„# ")
        rest = tokens[at + 1 :]
        of = self._match(rest, 0, "of")
        own = self._note(rest[of:]) if of else None
        found = own or self.parse(rest)
        return Place(heading=heading).joined(found) if found is not None else None

    def _note(self, tokens: Sequence[Token]) -> Place | None:
        """Parse all tokens as an existing note: a name, or a pronoun."""
        tokens = trim_marks(tokens)
        if not tokens:
            return None
        span = (tokens[0], tokens[-1], len(tokens))
        if span not in self._named:
            self._named[span] = self._find_note(tokens)
        return self._named[span]

    def _find_note(self, tokens: Sequence[Token]) -> Place | None:
        pronoun = self._sets.parse_reference(tokens)
        parsed = pronoun or self._sets.find_named(tokens)
        if parsed is None or not parsed.notes.is_single or parsed.notes.query or parsed.notes.unknown:
            return self._find_note_of(tokens) or self._find_note_of_kind(tokens)
        return Place(parsed.notes, is_certain=parsed.is_certain, is_pronoun=pronoun is not None)

    def _find_note_of(self, tokens: Sequence[Token]) -> Place | None:
        """Parse all tokens as the note about a person: "her", "her note", "Pat's note"."""
        has_noun = tokens[-1].key in self._language.words("note_nouns")
        owner = tokens[:-1] if has_noun else tokens
        implied = self._sets.implied_notes()
        if not owner or not all(token.is_word for token in owner):
            return None
        if len(owner) == 1 and owner[0].key in self._language.table("new_tasks")["possessives"]:
            return Place(implied, is_certain=self._sets.implies_one, is_pronoun=True) if implied else None
        name = span_text(self._request.text, tuple(owner))
        endings = self._language.table("new_tasks")["possessive_endings"]
        ending = next((ending for ending in endings if name.endswith(ending)), "")
        if not ending or not (has_noun or len(ending) > 1):
            return None
        vocabulary, name = self._request.vocabulary, name.removesuffix(ending)
        if len(paths := vocabulary.notes(name)) == 1:
            return Place(NoteSet(notes=paths))
        if implied is not None and vocabulary.notes_near(name.split(), implied.notes):
            return Place(implied)
        path = vocabulary.note_with_words(name)
        return Place(NoteSet(notes=(path,))) if path is not None else None

    def _find_note_of_kind(self, tokens: Sequence[Token]) -> Place | None:
        """Return the note in focus for "the boat", which may mean another one; None for other words."""
        notes = self._request.dialog.it
        is_article = tokens[0].key in self._language.words("determiners")
        if len(tokens) != 2 or not is_article or len(notes) != 1:
            return None
        if not self._request.vocabulary.has_kind(tokens[1].key):
            return None
        return Place(NoteSet(notes=notes), is_certain=False, is_pronoun=True)

    def _match(self, tokens: Sequence[Token], position: int, name: str) -> int:
        return self._language.match_prefix(tokens, position, "new_tasks", name)
