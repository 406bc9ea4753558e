"""Tell the user about syntax of Logseq that a search can't see."""

from __future__ import annotations

from collections.abc import Callable

from app.agent.language.words.logseq import LOGSEQ_TASKS, logseq_property, searched_properties
from app.agent.language.words.vault_words import VaultWords
from app.agent.pipeline.host import FindNotes
from app.errors import QueryError, TimeoutExpiredError
from app.permissions.pluralize import pluralize


class LogseqNotices:
    """Tells the user about tasks and properties in the syntax of Logseq if a search may have meant them.

    Args:
        say: Answers the user.
        words: Returns the vault's properties.
        find_notes: Returns every note that a search matches; without it, there are no notices.
    """

    def __init__(
        self, say: Callable[[str], None], words: Callable[[], VaultWords], find_notes: FindNotes | None
    ) -> None:
        self._say = say
        self._words = words
        self._find_notes = find_notes

    async def say_unread_tasks(self) -> None:
        """Tell the user if notes have tasks in the syntax of Logseq, which are not read."""
        if count := await self._count_notes(LOGSEQ_TASKS):
            have = pluralize(count, "note has", "notes have")
            self._say(
                f"{have} tasks in Logseq syntax (“- TODO”), which are not read. Write “- [ ]” or “- [x]”."
            )

    async def say_unread_properties(self, query: str) -> None:
        """Tell the user if notes have a property of a search in the syntax of Logseq, which is not read."""
        known = {name.casefold() for name in self._words().properties}
        for name in dict.fromkeys(searched_properties(query)):
            if name.casefold() not in known and (count := await self._count_notes(logseq_property(name))):
                have = pluralize(count, "note has", "notes have")
                self._say(
                    f"{have} “{name}::” in Logseq syntax, which is not read. Write properties between “---”"
                    " at the top of the note."
                )

    async def _count_notes(self, query: str) -> int:
        if self._find_notes is None:
            return 0
        try:
            return len(await self._find_notes(f"{query} "))
        except (QueryError, TimeoutExpiredError):
            return 0
