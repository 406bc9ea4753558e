"""A heading is renamed with the links to it, and nothing else changes."""

from __future__ import annotations

import pytest

from app.errors import AmbiguousError, ConflictError, InvalidParametersError, NotFoundError
from app.vault.markdown.heading_edits import HeadingRename, rename_heading_links
from app.vault.markdown.headings import heading_matches
from app.vault.markdown.scan import scan

NOTE = "---\na: 1\n---\n# Tea\r\n## Notes ##\nNotes\n### Old\n\nLast\n----\n"


@pytest.mark.parametrize(
    ("target", "new", "expected"),
    [
        ("notes", "Log: 2026", NOTE.replace("## Notes ##", "## Log: 2026 ##")),
        ("Last", "Next", NOTE.replace("Last", "Next")),
        ("Tea#Notes#Old", "New [[x]]", NOTE.replace("### Old", "### New [[x]]")),
        ("Notes", "NOTES", NOTE.replace("## Notes ##", "## NOTES ##")),
    ],
)
def test_only_the_text_of_the_heading_changes(target, new, expected):
    assert HeadingRename.of(NOTE, target, new).text == expected


@pytest.mark.parametrize(
    ("target", "new", "error"),
    [
        ("Nope", "x", NotFoundError),
        ("Notes", "old", ConflictError),
        ("Notes", " ", InvalidParametersError),
        ("Notes", "#", InvalidParametersError),
        ("Notes", "two\nlines", InvalidParametersError),
    ],
)
def test_what_is_no_name_for_the_heading_is_refused(target, new, error):
    with pytest.raises(error):
        HeadingRename.of(NOTE, target, new)


def test_one_of_two_headings_with_the_same_name_is_named_by_its_parent():
    text = "# A\n## Notes\n# B\n## Notes\n"
    with pytest.raises(AmbiguousError):
        HeadingRename.of(text, "Notes", "Log")
    rename = HeadingRename.of(text, "B#Notes", "Log")
    links = "[[N#Notes]] [[N#A#Notes]] [[N#B#Notes]]"
    assert rename_heading_links(links, {"N"}, rename) == "[[N#Notes]] [[N#A#Notes]] [[N#B#Log]]"


@pytest.mark.parametrize(
    ("new", "text", "expected"),
    [
        ("Log", "[[N#Notes]] ![[N#notes|x]]", "[[N#Log]] ![[N#Log|x]]"),
        ("Log", "[[ N # Notes |x]]", "[[ N # Log |x]]"),
        ("Log", "[[N#Tea#Notes]] [[N#Notes#Old]]", "[[N#Tea#Log]] [[N#Log#Old]]"),
        ("Log", "| [[N#Notes\\|x]] |\n| --- |\n", "| [[N#Log\\|x]] |\n| --- |\n"),
        ("Log: 2026", "[[N#Notes]]", "[[N#Log 2026]]"),
        ("Log: 2026", "[a](N.md#Notes) [b](<N.md#Notes>)", "[a](N.md#Log%202026) [b](<N.md#Log 2026>)"),
        ("Log [1]", "[[N#Notes]] [a](N.md#Notes)", "[[N#Log 1]] [a](N.md#Log%201)"),
        ("Log ]", "[[N#Notes|x]]", "[[N#Log|x]]"),
        ("[x](y.md)", "[[N#Notes]]", "[[N#x (y.md)]]"),
        ("Cost <$5>", "[b](<N.md#Notes>) [[N#Notes]]", "[b](<N.md#Cost %3C%245%3E>) [[N#Cost <$5>]]"),
    ],
)
def test_links_to_the_heading_follow_it(new, text, expected):
    rename = HeadingRename.of(NOTE, "Notes", new)
    after = rename_heading_links(text, {"N", "N.md"}, rename)
    assert after == expected
    links, headings = scan(after).links, rename.headings
    assert len(links) == len(scan(text).links)
    assert all(heading_matches(headings, link.heading) for link in links)


def test_other_links_stay():
    text = "[[M#Notes]] [[N#Old]] [[N]] [[N#Nope]] `[[N#Notes]]` [[#Notes]]"
    assert rename_heading_links(text, {"N"}, HeadingRename.of(NOTE, "Notes", "Log")) == text


def test_a_link_with_brackets_in_its_heading_leads_to_it():
    text = "[[N#Log [1]]]"
    rename = HeadingRename.of("## Log [1]\n", "Log 1", "Trip")
    assert rename_heading_links(text, {"N"}, rename) == "[[N#Trip]]]"


def test_a_heading_that_the_text_would_turn_into_code_is_refused():
    with pytest.raises(InvalidParametersError):
        rename_heading_links("a ` [[N#Notes]]", {"N"}, HeadingRename.of(NOTE, "Notes", "A ` B"))


def test_links_of_the_note_to_itself_follow_the_heading():
    text = "## Notes\n[[#Notes]] ^x\n"
    rename = HeadingRename.of(text, "Notes", "Log")
    assert rename_heading_links(rename.text, {""}, rename) == "## Log\n[[#Log]] ^x\n"


def test_a_link_in_the_properties_is_refused():
    text = '---\na: "[[N#Notes]]"\n---\n'
    with pytest.raises(InvalidParametersError):
        rename_heading_links(text, {"N"}, HeadingRename.of(NOTE, "Notes", "Log"))


@pytest.mark.parametrize(
    ("text", "target", "new", "expected"),
    [
        ("## Trial ^abc\nx\n", "Trial", "Test", "## Test ^abc\nx\n"),
        ("## Trial ^abc\n", "Trial ^abc", "Test ^abc", "## Test ^abc\n"),
        ("Trial ^abc\r\n---\r\n", "trial", "Test", "Test ^abc\r\n---\r\n"),
        ("# A\n## Trial\n## Trial ^abc\n", "Trial", "Test", "# A\n## Test\n## Trial ^abc\n"),
        ("## Trial ^abc ##\n", "Trial ^abc", "Test", "## Test ##\n"),
    ],
)
def test_a_block_id_stays_with_its_heading(text, target, new, expected):
    rename = HeadingRename.of(text, target, new)
    assert rename.text == expected and scan(expected).blocks == scan(text).blocks
    assert rename_heading_links("[[N#^abc]]", {"N"}, rename) == "[[N#^abc]]"


def test_links_to_a_heading_with_a_block_id_follow_it():
    rename = HeadingRename.of("## Trial ^abc\n", "Trial", "Test")
    assert rename_heading_links("[[N#Trial abc]]", {"N"}, rename) == "[[N#Test abc]]"


@pytest.mark.parametrize("new", ["Test ^xyz", "^abc"])
def test_a_rename_adds_no_block_id(new):
    with pytest.raises(InvalidParametersError):
        HeadingRename.of("## Trial\n\nText ^abc\n", "Trial", new)
