"""The details of a suggestion emit the user's decision."""

from __future__ import annotations

from app.desktop.suggestions.details import SuggestionDetails
from app.desktop.suggestions.queries import RelationDraft, SuggestedRelation
from app.desktop.theme.theme import ThemeSource


def test_a_second_acceptance_waits_for_the_first(qtbot) -> None:
    details = SuggestionDetails(ThemeSource("light"))
    qtbot.addWidget(details)
    accepted: list[RelationDraft] = []
    details.accepted.connect(accepted.append)
    details.show_suggestion(SuggestedRelation("A.md", "B.md", "RELATED", 0.5, True, "both name sea"))
    details.set_busy(True)
    details.accept_current()
    assert not accepted
    details.set_busy(False)
    details.accept_current()
    assert [(draft.source, draft.target) for draft in accepted] == [("A.md", "B.md")]
