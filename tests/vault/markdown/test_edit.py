"""Edits of tags, prose and sections, and patches change only the necessary characters."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.errors import AmbiguousError, ConflictError, InvalidParametersError, NotFoundError
from app.vault.markdown.body_edits import (
    append,
    insert_under,
    prepend,
    replace_body,
    replace_section,
    replace_text,
)
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.patch import apply_patch
from app.vault.markdown.scan import scan
from app.vault.markdown.tag_edits import add_tag, remove_tag, rename_tag

FRONT = "\ufeff---\r\ntags: [a]\r\n---\r\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\ntags: [a, b]\n---\nx", "---\ntags: [a, b, new]\n---\nx"),
        ("---\ntags:\n  - a\nz: 1\n---\n", "---\ntags:\n  - a\n  - new\nz: 1\n---\n"),
        ("---\ntags:\n- a # c\n---\n", "---\ntags:\n- a # c\n- new\n---\n"),
        ("---\ntags: a\n---\n", "---\ntags: a, new\n---\n"),
        ("---\ntags: a b\n---\n", "---\ntags: a b new\n---\n"),
        ('---\ntags: "a, b"\n---\n', '---\ntags: "a, b, new"\n---\n'),
        ("---\ntags:\n---\n", "---\ntags:\n  - new\n---\n"),
        ("---\ntags: []\n---\n", "---\ntags: [new]\n---\n"),
        ("---\ntag: a\n---\n", "---\ntag: a, new\n---\n"),
        ("---\nz: 1\n---\n", "---\nz: 1\ntags:\n  - new\n---\n"),
        ("body", "---\ntags:\n  - new\n---\nbody"),
        ("\ufeffbody\r\n", "\ufeff---\r\ntags:\r\n  - new\r\n---\r\nbody\r\n"),
        ("#New here", "#New here"),
        ("---\ntags: [NEW]\n---\n", "---\ntags: [NEW]\n---\n"),
    ],
)
def test_add_tag(text, expected):
    assert add_tag(text, "#new") == expected


@pytest.mark.parametrize("tag", ["", "#", "a b", "12", "a,b", "a#b", "[[x]]", "---", "a.b"])
def test_invalid_tag_names_are_refused(tag):
    with pytest.raises(InvalidParametersError):
        add_tag("", tag)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x #a y #A/b #ab", "x y #A/b #ab"),
        ("#a first\n#a", "first\n"),
        ("(#a) `#a`", "() `#a`"),
        ("---\ntags: [a, b]\n---\n", "---\ntags: [b]\n---\n"),
        ("---\ntags: [a]\n---\n", ""),
        ("---\ntags: [a]\nz: 1 # one\n---\nx\n", "---\nz: 1 # one\n---\nx\n"),
        ("---\nz: 1\r\ntags:\r\n  - a\r\n---\r\n", "---\nz: 1\r\n---\r\n"),
        ("---\ntags: [a] # mine\n---\n", "---\ntags: [] # mine\n---\n"),
        ("---\ntags:\n  - '#a'\n  - b\n---\n", "---\ntags:\n  - b\n---\n"),
        ("---\ntags: a, b\n---\n", "---\ntags: b\n---\n"),
        ("---\ntags: b a c\n---\n", "---\ntags: b c\n---\n"),
        ("---\ntags: a\nz: 1\n---\n", "---\nz: 1\n---\n"),
        ("---\ntags: [a, b]\ntag: a\n---\n", "---\ntags: [b]\n---\n"),
        ("---\na: [\n---\n#a x", "---\na: [\n---\nx"),
        ("---\ntags:\n- a\n# of z\nz: 1\n---\n", "---\n# of z\nz: 1\n---\n"),
        ("---\ntags: [a]\n# of z\nz: 1\n---\n", "---\n# of z\nz: 1\n---\n"),
        ("---\ntags:\n  - a\n  - b # other\n---\n", "---\ntags:\n  - b # other\n---\n"),
        ('---\ntags: ["a", "b #c"]\n---\n', '---\ntags: ["b #c"]\n---\n'),
    ],
)
def test_remove_tag(text, expected):
    assert remove_tag(text, "a") == expected


@pytest.mark.parametrize(
    "text",
    [
        "---\ntags:\n  # why\n  - a\n---\n",
        "---\ntags: # why\n  - a\n---\n",
        "---\ntags: [ # why\n a]\n---\n",
        "---\ntags:\n  - a # keep\n  - b # other\n---\n",
    ],
)
def test_a_tag_is_not_removed_with_a_comment(text):
    with pytest.raises(InvalidParametersError, match="would lose a comment"):
        remove_tag(text, "a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#old #old/x #older `#old`", "#new/n #new/n/x #older `#old`"),
        ("#OLD", "#new/n"),
        ("---\ntags: [Old, old/x, z]\n---\n", "---\ntags: [new/n, new/n/x, z]\n---\n"),
        ("---\ntags:\n  - '#old' # c\n---\n", "---\ntags:\n  - '#new/n' # c\n---\n"),
        ("---\ntags: [old, new/n]\n---\n", "---\ntags: [new/n]\n---\n"),
        ("---\ntags: old, x\n---\n", "---\ntags: new/n, x\n---\n"),
        ("---\ntags: [old]\ntag: old\n---\n", "---\ntags: [new/n]\ntag: new/n\n---\n"),
    ],
)
def test_rename_tag(text, expected):
    assert rename_tag(text, "old", "new/n") == expected


def test_rename_back_gives_the_original(real_notes):
    """Renaming a tag changes only its own characters, and renaming it back restores the text."""
    for path in real_notes:
        text = path.read_bytes().decode()
        note = scan(text)
        for tag in note.tag_names[:2]:
            if any(other.casefold().startswith(tag.casefold()) for other in note.tag_names if other != tag):
                continue
            after = rename_tag(text, tag, "zz-test")
            assert "zz-test" in scan(after).tag_names, path
            before, renamed = ([t.name for t in n.tags] for n in (note, scan(after)))
            one_casing = {name for name in before if name.casefold() == tag.casefold()} == {tag}
            if one_casing and before.count(tag) == renamed.count("zz-test"):
                assert rename_tag(after, "zz-test", tag) == text, path


def test_added_and_removed_is_the_original(real_notes):
    for path in real_notes:
        text = path.read_bytes().decode()
        found = read_frontmatter(text)
        if found.problem or (found.span and not found.properties):
            continue
        after = add_tag(text, "zz-test")
        assert after[read_frontmatter(after).body_start :] == text[found.body_start :]
        if isinstance(found.properties.get("tags"), list) and found.properties["tags"]:
            assert remove_tag(after, "zz-test") == text, path


def test_bodies_keep_the_properties_and_the_newlines():
    assert replace_body(FRONT + "old", "new\nlines") == FRONT + "new\r\nlines"
    assert replace_body("---\na: 1\n---", "new") == "---\na: 1\n---\nnew"
    assert replace_body("\ufeffold", "new") == "\ufeffnew"


def test_append_and_prepend():
    assert append("a", "b") == "a\nb"
    assert append("a\r\n", "b\nc") == "a\r\nb\r\nc\r\n"
    assert append("", "b") == "b\n"
    assert append("a\r\nb", "c\n") == "a\r\nb\r\nc"
    assert prepend(FRONT + "x", "b") == FRONT + "b\r\nx"
    assert prepend("---\na: 1\n---", "b") == "---\na: 1\n---\nb\n"
    assert prepend("\ufeffx", "b\n") == "\ufeffb\nx"


def test_replace_text():
    assert replace_text("a b c", "b", "x") == "a x c"
    assert replace_text("a b b", "b", "x", 2) == "a b x"
    assert replace_text("a\r\nb\r\n", "a\nb", "c\nd") == "c\r\nd\r\n"
    for text, occurrence, count in (("a", None, 0), ("b b", None, 2), ("b b", 3, 2), ("b b", 0, 2)):
        with pytest.raises(InvalidParametersError) as error:
            replace_text(text, "b", "x", occurrence)
        assert error.value.data["count"] == count
    with pytest.raises(InvalidParametersError):
        replace_text("a", "", "x")


SECTIONS = "# Top\nintro\n\n## One: [[x]]\n\ntext\n\n### Deep\ndeep\n\n## Two\n\n## Deep\nlast"


def test_insert_under():
    assert insert_under(SECTIONS, "one x", "- new") == SECTIONS.replace("text\n", "text\n- new\n")
    assert insert_under(SECTIONS, "Top", "- new") == SECTIONS.replace("intro\n", "intro\n- new\n")
    assert insert_under(SECTIONS, "Two", "new\n") == SECTIONS.replace("## Two\n", "## Two\nnew\n")
    assert insert_under(SECTIONS, "Top#Two", "new") == insert_under(SECTIONS, "Two", "new")
    assert insert_under(SECTIONS, "One x#Deep", "new") == SECTIONS.replace("deep\n\n", "deep\nnew\n\n")
    assert insert_under("# H", "h", "new") == "# H\nnew"
    assert insert_under("H\r\n===\r\nx", "h", "a\nb") == "H\r\n===\r\nx\r\na\r\nb"
    assert insert_under("# H\nline  \n\n# I", "h", "new") == "# H\nline  \nnew\n\n# I"


def test_headings_are_found_strictly():
    with pytest.raises(NotFoundError) as missing:
        insert_under(SECTIONS, "Three", "x")
    assert "Two" in missing.value.data["suggestions"]
    with pytest.raises(AmbiguousError) as several:
        insert_under(SECTIONS, "deep", "x")
    assert len(several.value.data["candidates"]) == 2


def test_replace_section():
    expected = "# Top\nintro\n\n## One: [[x]]\n\nnew\nlines\n\n## Two\n\n## Deep\nlast"
    assert replace_section(SECTIONS, "One x", "new\nlines\n") == expected
    assert replace_section(SECTIONS, "One x", "## One: [[x]]\nnew\nlines") == expected
    assert replace_section(SECTIONS, "Two", "new") == SECTIONS.replace("## Two\n", "## Two\nnew\n")
    assert replace_section(SECTIONS, "Top#Two", "") == SECTIONS
    assert replace_section("# H\r\nold", "H", "a\nb") == "# H\r\na\r\nb"
    assert replace_section("#tag list\n===\nold\n", "#tag list", "new\n") == "#tag list\n===\nnew\n"
    assert replace_section("# H\nold  \n# I", "H", "new") == "# H\nnew\n# I"
    assert replace_section("A\n===\nold\n", "A", "A\n===\nnew\n") == "A\n===\nnew\n"


def test_patch():
    text = "a\r\nb\r\nc\r\nd"
    assert apply_patch(text, "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n") == "a\r\nx\r\nc\r\nd"
    assert apply_patch(text, "--- n\n+++ n\n@@ -3,1 +3,2 @@\n b\n+y\n") == "a\r\nb\r\ny\r\nc\r\nd"
    assert apply_patch(text, "@@\n d\n+e\n") == "a\r\nb\r\nc\r\nd\r\ne"
    assert apply_patch("", "@@ -0,0 +1,2 @@\n+a\n+b\n") == "a\nb\n"
    assert apply_patch("a\nb\n", "@@ -1,2 +1,1 @@\n a\n-b\n") == "a\n"


@pytest.mark.parametrize(
    ("text", "patch"),
    [
        ("a\nb\n", "@@ -1,1 +1,1 @@\n-x\n+y\n"),
        ("x\na\nx\n", "@@ -2,1 +2,1 @@\n-x\n+y\n"),
        ("a\n", "@@ -9,0 +9,1 @@\n+x\n"),
    ],
)
def test_a_patch_that_does_not_fit_is_a_conflict(text, patch):
    with pytest.raises(ConflictError):
        apply_patch(text, patch)


def test_an_insertion_without_a_position_is_a_conflict():
    with pytest.raises(ConflictError, match="Hunk 1 has no context lines"):
        apply_patch("a\n", "@@\n+x\n")


@pytest.mark.parametrize("patch", ["", "no hunk", "@@ -1 +1 @@\n*x\n"])
def test_an_invalid_patch_is_an_error(patch):
    with pytest.raises(InvalidParametersError):
        apply_patch("a\n", patch)


rows = st.lists(st.sampled_from(["a", "b", "c", "", "+x", "-y", " z", "@@"]), max_size=12)


@given(rows, rows, st.booleans(), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_a_diff_applied_gives_the_new_text(old, new, old_ends, new_ends, newline):
    before = "\n".join(old) + ("\n" if old and old_ends else "")
    after = "\n".join(new) + ("\n" if new and new_ends else "")
    assume(before.strip("\n") == before.strip() and after)
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), "a", "b", n=2)
    unended = "\n\\ No newline at end of file\n"
    patch = "".join(line if line.endswith("\n") else line + unended for line in lines)
    if not patch:
        return
    assert apply_patch(before.replace("\n", newline), patch) in (after.replace("\n", newline), after)


pieces = st.lists(
    st.sampled_from(
        ["#a", "#a/b", " ", "\n", "\r\n", "x", "`", "```\n", "[[", "]]", "%%", "---\n", "tags: [a]\n", "# H"]
    ),
    max_size=20,
).map("".join)


@given(pieces)
def test_a_removed_tag_is_gone_and_no_other(text):
    assume("#a#" not in text)
    before = scan(text)
    try:
        after = scan(remove_tag(text, "a"))
    except InvalidParametersError:
        # Refused: the tag separates the marks around it, or is in properties with duplicate keys.
        assume(False)
    assert "a" not in [name.casefold() for name in after.tag_names]
    assert [t.name for t in after.tags if t.name == "a/b"] == [t.name for t in before.tags if t.name == "a/b"]


@given(pieces, st.sampled_from(["new", "one\ntwo"]))
def test_additions_leave_the_rest(text, addition):
    body = read_frontmatter(text).body_start
    assert append(text, addition).startswith(text)
    assert prepend(text, addition).endswith(text[body:])
    assert prepend(text, addition).startswith(text[:body])
    assert replace_body(text, addition).startswith(text[:body])
