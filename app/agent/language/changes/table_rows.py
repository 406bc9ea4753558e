"""Parse requests that add a row to a table: "add the row | a | b | to the table in H1"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.agent.language.grammar.request import Request
from app.agent.language.grammar.role_values import trim_marks
from app.agent.language.grammar.text_places import Place, PlaceParser
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    PipelineStep,
    Reading,
)
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import MAX_TOKENS, Token
from app.vault.markdown.tables import is_row_text

_SCORE = 0.95
_MAX_TABLES = 4
IN_TABLE = "table"
"""The value of the argument `place` of an addition that must be a row of a table."""


def parse_table_row(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the addition of a row that is written with bars: "add the row | a | b | to the table in H1"."""
    language = request.language
    verb_end = language.match_prefix(tokens, 0, "new_tasks", "verbs")
    bounds = _row_bounds(tokens)
    if verb_end == 0 or bounds is None or bounds[0] < verb_end or "append" not in request.allowed:
        return None
    first, last = bounds
    is_quoted = tokens[first].kind == "quoted"
    row = tokens[first].value if is_quoted else request.text[tokens[first].start : tokens[last].end]
    words = [token for token in (*tokens[verb_end:first], *tokens[last + 1 :]) if token.kind != "mark"]
    ends = {*language.table("property_values")["ends"], *language.table("new_tasks")["courtesies"]}
    while words and words[-1].key in ends:
        words.pop()
    without_noun = _without_noun(language, words)
    place = _place_of_row(request, without_noun)
    is_row = is_row_text(row) and "\n" not in row and len(request.tokens) < MAX_TOKENS
    if place is None or not is_row or (without_noun == words and not place[1]):
        return None
    notes = place[0].notes or request.set_parser().implied_notes()
    arguments: dict[str, object] = {"text": row.strip(), "place": IN_TABLE}
    if place[0].heading:
        arguments["heading"] = place[0].heading
    missing = "target" if notes is None else ""
    return Reading(
        (PipelineStep("append", notes, arguments),), _SCORE, (), missing, language.code, len(words)
    )


def _row_bounds(tokens: Sequence[Token]) -> tuple[int, int] | None:
    """Return the positions of the first and the last token of a row: "| a | b |", perhaps quoted."""
    quoted = [at for at, token in enumerate(tokens) if token.kind == "quoted" and is_row_text(token.value)]
    if len(quoted) == 1:
        return quoted[0], quoted[0]
    first = next((at for at, token in enumerate(tokens) if token.value.startswith("|")), None)
    last = next((at for at in range(len(tokens) - 1, -1, -1) if tokens[at].value.endswith("|")), None)
    return (first, last) if first is not None and last is not None and first < last else None


def _without_noun(language: Language, words: list[Token]) -> list[Token]:
    """Return the words without "a row" at their start or end."""
    if end := language.match_prefix(words, 0, "table_rows", "nouns"):
        return words[end:]
    ends = (language.match_prefix(words, start, "table_rows", "nouns") for start in range(len(words)))
    start = next((start for start, end in enumerate(ends) if start < end == len(words)), len(words))
    return words[:start]


def _place_of_row(request: Request, words: Sequence[Token]) -> tuple[Place, bool] | None:
    """Return the place that all words name, and whether they name a table: "to the table in H1"."""
    language = request.language
    after = language.match_prefix(words, 0, "table_rows", "tables")
    names_table = after > 0
    words = words[after:]
    if not names_table and words and words[-1].key in language.table("table_rows")["names"]:
        names_table = True
        words = words[:-1]  # "to the Prices table"
    place = PlaceParser(request).parse(words)
    if place is None and names_table and (named := request.set_parser().find_named(trim_marks(words))):
        place = Place(named.notes, is_certain=named.is_certain) if named.notes.is_single else None
    return (place, names_table) if place is not None and place.is_certain else None


def which_table(step: PipelineStep, error: Mapping[str, object], language: Language) -> Clarification | None:
    """Return a question about the table for a new row if a call failed because of several; None otherwise."""
    tables = error.get("tables")
    if step.action != "append" or not isinstance(tables, list) or not all(tables):
        return None  # a table without a heading of its own can't be named
    options = tuple(
        ClarificationOption(
            str(heading), Reading((step.with_argument("heading", heading),), 1.0, language=language.code)
        )
        for heading in tables
    )
    return Clarification("Which table do you mean?", options[:_MAX_TABLES], spare=options[_MAX_TABLES:])
