"""Formatted unified diffs can be applied, and a patch of several files is split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidParametersError
from app.vault.diff import compare
from app.vault.markdown.patch import apply_patch
from app.vault.unified_diff import FilePatch, split_patch, unified_diff

LINE = st.sampled_from(["a\n", "b\n", "\n", "-- x\n", "--- y\n", "+++ z\n", "@@ q\n", "d\n"])
LINES = st.lists(LINE, max_size=30)


@given(LINES, LINES)
def test_what_is_written_can_be_taken_apart_and_applied(before: list[str], after: list[str]) -> None:
    old, new = "".join(before), "".join(after)
    text = unified_diff(compare(old.encode(), new.encode()), "a/x.md", "b/x.md")
    if old == new:
        assert text == ""
        return
    (part,) = split_patch(text)
    assert (part.old_name, part.new_name) == ("x.md", "x.md")
    assert apply_patch(old, part.hunks) == new


@given(LINES.filter(bool), LINES.filter(bool))
def test_two_files_stay_apart(one: list[str], two: list[str]) -> None:
    texts = ["".join(one), "".join(two)]
    patch = "".join(
        unified_diff(compare(b"", text.encode()), "/dev/null", f"b/{name}")
        for name, text in zip("xy", texts, strict=True)
    )
    parts = split_patch(patch)
    assert [(part.old_name, part.new_name) for part in parts] == [(None, "x"), (None, "y")]
    assert [apply_patch("", part.hunks) for part in parts] == texts


def test_what_git_writes_between_files_is_passed_over() -> None:
    patch = (
        "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"
        "diff --git a/y b/y\ndeleted file mode 100644\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
    )
    assert split_patch(patch) == [
        FilePatch("x", "x", "@@ -1 +1 @@\n-1\n+2\n"),
        FilePatch("y", None, "@@ -1 +0,0 @@\n-1\n"),
    ]


def test_hunks_without_a_file_and_a_header_that_is_cut_off() -> None:
    assert split_patch("@@ -1 +1 @@\n-1\n+2\n") == [FilePatch("", "", "@@ -1 +1 @@\n-1\n+2\n")]
    assert split_patch("nothing\n") == []
    with pytest.raises(InvalidParametersError, match="Line 1"):
        split_patch("--- a/x\n@@ -1 +1 @@\n")


def test_a_last_line_without_a_newline_is_marked() -> None:
    text = unified_diff(compare(b"a\nb", b"a\nc"), "x", "x")
    assert text.count("\\ No newline at end of file") == 2
    assert apply_patch("a\nb", text) == "a\nc"
