"""A note that a tool has opened."""

from __future__ import annotations

import pytest

from app.permissions.caller import Caller, CallerKind
from app.toolkit.call import Call
from app.toolkit.open_note import OpenNote
from app.vault.path import NotePath

UNREADABLE = {
    "an open bracket": b"---\norigin: web\nx: [1, 2\n---\nPage.\n",
    "an escape": b'---\n"\\x6frigin": web\nx: [1\n---\nPage.\n',
    "Latin-1": b"---\norigin: web\ntitle: Gr\xfc\xdfe\n---\nPage.\n",
    "UTF-16": "---\norigin: web\n---\nPage.\n".encode("utf-16"),
}


def is_from_web(content: bytes) -> bool:
    return OpenNote(NotePath.parse("Page.md"), content).is_from_web


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_note_whose_properties_cannot_be_read_counts_as_a_page_of_the_web(content):
    assert is_from_web(content)


def test_properties_that_can_be_read_decide():
    assert is_from_web(b"---\norigin: web\n---\nPage.\n")
    assert not is_from_web(b"---\norigin: book\n---\nThe origin of species.\n")
    assert not is_from_web(b"---\ntitle: Re: plan\n---\nNothing of it says where it is from.\n")


async def test_a_search_that_quotes_a_note_with_unreadable_properties_is_untrusted(workspace):
    model = Caller(CallerKind.DESKTOP_AGENT, "Model")
    for name, first in (("Broken", "x: [1, 2"), ("Whole", "x: 1")):
        (workspace.root / f"{name}.md").write_text(f"---\norigin: book\n{first}\n---\n{name} quagga.\n")
    await workspace.index.scan()
    for query, untrusted in (("broken quagga", True), ("whole quagga", False)):
        outcome = await workspace.runner.run(Call.of("search_notes", {"query": query}, model))
        assert outcome.result["hits"] and outcome.untrusted is untrusted
