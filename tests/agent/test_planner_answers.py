"""Answers: what a tool gave, in words that link."""

from __future__ import annotations

from app.agent.answers import answer, link
from app.agent.plans import CallTool
from app.toolkit.outcome import ToolOutcome
from app.tools.history import Undone, VersionEntry, Versions
from app.tools.moving import NoteDeleted, NoteMoved
from app.tools.notes import NoteEntry, NoteList, NoteMetadata, NoteText, NoteWritten
from app.tools.search import (
    Hit,
    Hits,
    Line,
    MentionEntry,
    Mentions,
    NoteNames,
    Related,
    RelatedNotes,
    RelatedReason,
    TagEntry,
    Tags,
    VaultInfo,
)

NAME = {"name": "Instruments/H4.md"}


def _say(tool: str, result: object, intent: str = "", commit: int | None = None, **arguments: object) -> str:
    fields = result.model_dump()  # type: ignore[attr-defined]
    message = str(fields.pop("message", ""))
    call = CallTool(tool, {**NAME, **arguments}, "", 1.0, intent)
    return answer(call, ToolOutcome(True, fields, message, commit=commit))


def test_a_link_means_exactly_one_note() -> None:
    assert link("People/Mercator.md") == "[[People/Mercator|Mercator]]"
    assert link("Start.md") == "[[Start]]"


def test_a_note_is_quoted_without_its_properties() -> None:
    text = "---\ntype: concept\n---\n# H4\n\nA watch."
    said = _say(
        "read_note",
        NoteText(
            name="H4", path="Instruments/H4.md", text=text, start_line=1, end_line=6, total_lines=6, hash="0"
        ),
    )
    assert said == "[[Instruments/H4|H4]], 6 lines:\n\n> # H4\n>\n> A watch."


def test_a_long_note_is_cut_at_a_line() -> None:
    text = "\n".join(f"Line {n} of a long note." for n in range(500))
    said = _say(
        "read_note",
        NoteText(name="H4", path="H4.md", text=text, start_line=1, end_line=500, total_lines=500, hash="0"),
    )
    assert said.endswith("… [[H4]] goes on.")
    assert len(said) < 4000
    assert all(line.startswith("> Line ") and line.endswith("note.") for line in said.splitlines()[2:-2])


def test_an_empty_note_is_said_to_be_empty() -> None:
    empty = NoteText(
        name="H4", path="H4.md", text="---\na: 1\n---\n", start_line=1, end_line=3, total_lines=3, hash="0"
    )
    assert _say("read_note", empty) == "[[H4]] is empty."


def test_hits_have_their_line() -> None:
    hit = Hit(name="H4", path="Instruments/H4.md", score=1.0, lines=[Line(line=3, text="won  the prize")])
    one = _say("search_notes", Hits(hits=[hit], total=1), "find", query="prize")
    assert one == "1 note:\n\n- [[Instruments/H4|H4]]: won the prize"
    none = _say("search_notes", Hits(hits=[], total=0), "find", query="prize")
    assert none.startswith("I found nothing for “prize”.")
    many = _say("search_notes", Hits(hits=[hit] * 20, total=57), "find", query="prize")
    assert many.startswith("57 notes:") and many.endswith("… and 37 more.")


def test_metadata_answers_what_was_asked() -> None:
    known = NoteMetadata(
        name="H4",
        path="Instruments/H4.md",
        type="entity",
        confidence=None,
        tags=["clock", "prize"],
        properties={"year": 1759, "makers": ["Harrison", "Kendall"]},
        backlinks=["Events/Trial of H4.md"],
        forward_links=[],
        unresolved_links=["H5"],
        created=0.0,
        modified=0.0,
        size=1200,
        problem=None,
    )
    assert _say("get_metadata", known, "backlinks") == (
        "1 note links to [[Instruments/H4|H4]]:\n\n- [[Events/Trial of H4|Trial of H4]]"
    )
    assert _say("get_metadata", known, "outgoing") == (
        "[[Instruments/H4|H4]] links to no note.\n\nNo note yet: [[H5]]"
    )
    assert _say("get_metadata", known, "note-tags") == "[[Instruments/H4|H4]]: #clock #prize"
    details = _say("get_metadata", known, "details")
    assert "**makers**: Harrison, Kendall" in details and "1,200 bytes" in details


def test_lists_of_notes_tags_and_relations() -> None:
    assert _say("search_by_tags", NoteNames(notes=["a/B.md"], total=1)) == "1 note:\n\n- [[a/B|B]]"
    assert _say("search_by_tags", NoteNames(notes=[], total=0)) == "No note has that."
    entry = NoteEntry(name="B", path="a/B.md", type="note", modified=0, size=1)
    assert _say("list_notes", NoteList(notes=[entry], total=1), folder="a") == "1 note in a:\n\n- [[a/B|B]]"
    tags = Tags(tags=[TagEntry(tag="x", count=1, parent=None), TagEntry(tag="y", count=3, parent=None)])
    assert _say("list_tags", tags) == "2 tags:\n\n- #y: 3\n- #x: 1"
    related = RelatedNotes(
        related=[
            _related("B", {"BACKLINK_FROM": 1.0, "SHARED_TAG:clock": 0.5}),
            _related("D", {"SEMANTICALLY_RELATED": 0.617}),
        ]
    )
    said = _say("find_related", related)
    assert "[[B]]: links to it, shares the tag #clock" in said and "[[D]]: close in meaning (0.62)" in said


def _related(name: str, why: dict[str, float]) -> Related:
    reasons = [RelatedReason(relationship=kind, score=score) for kind, score in why.items()]
    first = reasons[0]
    return Related(
        name=name, path=f"{name}.md", relationship=first.relationship, score=first.score, reasons=reasons
    )


def test_history_mentions_and_vault() -> None:
    version = VersionEntry(version="ab", time=1.7e9, author="You", path="H4.md", size=3, summary="Edit H4.md")
    assert "You: Edit H4.md" in _say("note_history", Versions(versions=[version]))
    assert "no older versions" in _say("note_history", Versions(versions=[]))
    mention = MentionEntry(path="B.md", line=4, text="the H4 of 1759")
    assert "- [[B]], line 4: the H4 of 1759" in _say("unlinked_mentions", Mentions(mentions=[mention]))
    info = VaultInfo(
        notes=3,
        attachments=1,
        links=4,
        tags=2,
        unresolved=1,
        orphans=0,
        indexed=3,
        skipped=0,
        failed=0,
        problems=[],
    )
    assert "- 3 notes, 1 other files" in _say("vault_info", info)


def test_changes_say_how_to_take_them_back() -> None:
    written = NoteWritten(name="H4", path="H4.md", message="Changed [[H4]].")
    assert _say("edit_note", written, commit=3) == "Changed [[H4]]. Say “undo” to take it back."
    assert _say("edit_note", written) == "Changed [[H4]]."
    moved = NoteMoved(path="a/H4.md", new_path="b/H4.md", rewritten=["x.md", "y.md"], left_out=["z.md: why"])
    said = _say("move_note", moved, commit=4)
    assert said.startswith("It is now [[b/H4|H4]], and the links to it in 2 notes were rewritten.")
    assert "- z.md: why" in said
    gone = _say("delete_note", NoteDeleted(path="H4.md", backlinks=["x.md"]), commit=5)
    assert gone.startswith("H4.md is in the vault's trash.") and "- [[x]]" in gone


def test_undo_names_what_went_back() -> None:
    assert _say("undo", Undone(commits=[3], paths=["a.md"]), commit=4) == "1 file is as it was:\n\n- a.md"
    assert "nothing to do" in _say("undo", Undone(commits=[3], paths=[], message="Undone; nothing to do."))


def test_failures_and_refusals_are_told() -> None:
    call = CallTool("read_note", NAME, "")
    error = {"type": "not_found", "message": "No note is called 'X'.", "suggestions": ["a/Y.md"]}
    assert answer(call, ToolOutcome(False, error=error)) == (
        "No note is called 'X'.\n\nDid you mean one of these?\n- [[a/Y|Y]]"
    )
    assert answer(call, ToolOutcome(False, denied=True, words="not now")) == "Not done: not now"
    assert answer(call, ToolOutcome(False, denied=True)) == "Not done: you said no. Nothing was changed."
