"""Storage ids convert to text and back without loss, for any file name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidParametersError, InvalidPathError, NotFoundError
from app.vault.path import NotePath
from app.vault.storage_id import StorageId, StorageKind, is_explicit

_PARTS = st.text(min_size=1, max_size=12).filter(
    lambda part: part not in (".", "..") and not set(part) & set("/\0")
)
_STARTS = st.sampled_from(["", "", "file:", "db:", "http:", "https:", "file:file:"])
_PATHS = st.builds(
    lambda start, parts: start + "/".join(parts), _STARTS, st.lists(_PARTS, min_size=1, max_size=4)
)
_LINE = st.text(st.characters(exclude_categories=("Cc", "Cs", "Z")), min_size=1, max_size=30)


@given(_PATHS)
def test_any_path_of_a_file_is_read_back(text: str) -> None:
    path = NotePath.on_disk(text)
    made = StorageId.of_file(path)
    assert StorageId.parse(str(made)) == made and made.path == path
    assert (str(made) == text) == (not is_explicit(text))
    assert StorageId.parse(f"file:{text}") == made


@given(st.sampled_from(["db:", "https://", "http://"]), _LINE)
def test_ids_of_databases_and_urls_are_read_back_and_are_no_files(start: str, rest: str) -> None:
    made = StorageId.parse(start + rest)
    assert str(made) == start + rest and StorageId.parse(str(made)) == made
    assert made.kind is (StorageKind.DATABASE if start == "db:" else StorageKind.URL)
    with pytest.raises(NotFoundError, match="stores its notes as files"):
        _ = made.path


@given(_PATHS, _PATHS)
def test_different_files_have_different_ids(first: str, second: str) -> None:
    ids = {str(StorageId.of_file(NotePath.on_disk(one))) for one in (first, second)}
    assert len(ids) == len({first, second})


@pytest.mark.parametrize("text", ["db:", "db: x", "db:a\nb", "https://", "http://a\0"])
def test_what_is_no_id_is_an_error(text: str) -> None:
    with pytest.raises(InvalidParametersError):
        StorageId.parse(text)


@pytest.mark.parametrize("text", ["", "file:", "/etc/passwd", "file:../x.md", "a//b.md", "file:/x"])
def test_a_file_never_leaves_the_vault(text: str) -> None:
    with pytest.raises(InvalidPathError):
        StorageId.parse(text)
