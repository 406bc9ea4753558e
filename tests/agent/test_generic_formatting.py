"""Results of any tool are formatted for people."""

from __future__ import annotations

from app.agent.generic_formatting import format_details


def test_texts_are_paragraphs_and_lists_are_lists_with_links_to_notes() -> None:
    result = {
        "success": True,
        "summary": "A clock that kept time at sea.",
        "related_count": 3,
        "paths": ["Instruments/H4.md", "Home.md"],
        "found": [{"id": "Claims/One.md", "score": 0.81234, "reason": "shared tag", "extra": None}],
    }
    assert format_details(result, "Done.").split("\n") == [
        "A clock that kept time at sea.",
        "",
        "**Paths**",
        "",
        "- [[Instruments/H4|H4]]",
        "- [[Home]]",
        "",
        "**Found**",
        "",
        "- [[Claims/One|One]]: score 0.81, reason shared tag",
    ]


def test_a_long_list_is_cut_and_says_so_and_nothing_gives_nothing() -> None:
    text = format_details({"names": [f"n{i}" for i in range(25)]}, "")
    assert text.endswith("- n19\n- … and 5 more")
    assert format_details({"message_again": "one two three four"}, "one two three four") == ""
    assert format_details({}, "") == ""
    assert format_details({"edge_id": "Notes/A b.md -[CITES]-> Notes/C d.md"}, "Done.") == ""


def test_the_long_name_of_the_changed_note_is_not_repeated() -> None:
    result = {"name": "Brown butter nectarine tart", "path": "Recipes/Brown butter nectarine tart.md"}
    assert format_details(result, "Changed.") == ""
