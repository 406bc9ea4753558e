"""The notation of readings keeps every name and value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.notation import parse, serialize
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading

# A vertical bar separates steps.
CHARACTERS = st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters="/\\|:")
NAMES = st.lists(
    st.one_of(st.text(CHARACTERS, min_size=1), st.sampled_from(["&", ", @Pip", "a", "[b]", '"'])),
    min_size=1,
    max_size=4,
).map(lambda parts: " ".join(parts).strip())


@given(st.lists(NAMES, min_size=1, max_size=3), st.sampled_from(["", "tag:x"]))
def test_names_with_marks_are_read_as_they_were_written(names, query) -> None:
    known = set(names)

    def resolve(name: str) -> tuple[str, ...]:
        return (f"{name}.md",) if name in known else ()

    target = NoteSet(query=query, notes=tuple(f"{name}.md" for name in names))
    reading = Reading((PipelineStep("relate", target, {"to": NoteSet(notes=(f"{names[0]}.md",))}),), 1.0)
    read = parse(serialize(reading), resolve, ACTIONS)
    assert read is not None and read.steps == reading.steps


def test_a_typed_name_needs_no_quotation_marks() -> None:
    def resolve(name: str) -> tuple[str, ...]:
        return (f"{name}.md",) if name == "Keel & Co" else ()

    reading = parse("open [@Keel & Co]", resolve, ACTIONS)
    assert reading is not None and reading.last.target == NoteSet(notes=("Keel & Co.md",))


def test_a_search_within_a_note_follows_its_name() -> None:
    def resolve(name: str) -> tuple[str, ...]:
        return (f"{name}.md",) if name == "H4" else ()

    reading = parse("find [@H4 & tag:clock]", resolve, ACTIONS)
    assert reading is not None and reading.last.target == NoteSet(query="tag:clock", notes=("H4.md",))
    unknown = parse("find [@H9 & tag:clock]", resolve, ACTIONS)
    assert unknown is not None and unknown.last.target == NoteSet(unknown="H9")


def test_bars_in_a_value_separate_no_steps() -> None:
    rows = "| a | b | c |"
    reading = Reading((PipelineStep("append", NoteSet(notes=("A.md",)), {"text": rows}),) * 2, 1.0)
    assert parse(serialize(reading), lambda name: (f"{name}.md",), ACTIONS) == reading
