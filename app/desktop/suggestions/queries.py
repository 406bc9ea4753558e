"""Operations of the suggestions panel on the open vault; they run in the service thread. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from app.errors import ScriptoriumError
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.toolkit.outcome import ToolOutcome
    from app.workspace import VaultService

MAX_SUGGESTIONS = 200
_MAX_TEXT_CHARS = 1200


@dataclass(frozen=True, slots=True)
class SuggestedRelation:
    """A suggested relation from `source` to `target`, with its likelihood (0 to 1) and the reasons for it.

    `is_likely` means that agents may propose the relation without being asked.
    """

    source: str
    target: str
    type: str
    score: float
    is_likely: bool
    reasoning: str

    @property
    def pair(self) -> tuple[str, str]:
        """The paths of both notes."""
        return self.source, self.target


@dataclass(frozen=True, slots=True)
class RelationDraft:
    """A relation as the user edited it."""

    source: str
    target: str
    type: str
    confidence: float


async def list_suggestions(vault: VaultService, note: str) -> tuple[SuggestedRelation, ...]:
    """Return up to `MAX_SUGGESTIONS` suggestions, best first.

    Args:
        vault: The open vault.
        note: The path of the note to suggest relations for; empty for the whole vault.

    Raises:
        ScriptoriumError: The suggestions could not be computed.
    """
    arguments: dict[str, object] = {"op": "list", "limit": MAX_SUGGESTIONS} | (
        {"node_id": note} if note else {}
    )
    outcome = await vault.call(Call.of("suggest_relationships", arguments, Caller.user()))
    if not outcome.success:
        raise ScriptoriumError(outcome.message)
    return tuple(
        _parse_suggestion(item) for item in cast("list[Mapping[str, Any]]", outcome.result["suggestions"])
    )


def _parse_suggestion(item: Mapping[str, Any]) -> SuggestedRelation:
    return SuggestedRelation(
        item["from_id"],
        item["to_id"],
        item["relationship_type"],
        item["score"],
        item["auto"],
        item["reasoning"],
    )


async def accept_suggestion(vault: VaultService, draft: RelationDraft) -> ToolOutcome:
    """Propose the relation, which the user reviews before it is written, and return the outcome."""
    arguments = {
        "from_id": draft.source,
        "to_id": draft.target,
        "relationship_type": draft.type,
        "confidence": draft.confidence,
    }
    return await vault.call(Call.of("create_relationship", arguments, Caller.user()))


def note_excerpt(vault: VaultService, path: str) -> str:
    """Return the beginning of a note, without its properties; empty if the note can't be read."""
    try:
        text = decode_lossy(vault.notes.read(NotePath.on_disk(path)))
    except ScriptoriumError:
        return ""
    return text[read_frontmatter(text).body_start :].strip()[:_MAX_TEXT_CHARS]
