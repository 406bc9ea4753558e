"""The names that requests to the built-in agent may use follow the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.agent.language.words.lexicon import languages
from app.agent.note_answers import _named_note
from app.settings import Settings
from app.vault.path import NotePath
from app.workspace.opening import open_workspace


@pytest.mark.parametrize("text", ["#herb\n", "---\nkind: herb\n---\n#herb\n"])
async def test_a_new_tag_is_known_whether_or_not_notes_have_properties(root: Path, text: str) -> None:
    settings = Settings()
    settings.embeddings.enabled = False
    workspace = await open_workspace(root, settings, None, brief=True)
    try:
        await workspace.start_scan(lambda progress: None)
        assert workspace._vault_words().tags == ()
        (root / "Mint.md").write_text(text, "utf-8")
        await workspace.index.refresh([NotePath("Mint.md")])
        words = workspace._vault_words()
        assert words.tags == ("herb",)
        if words.values:
            assert workspace._vault_words() is words
    finally:
        await workspace.close()


async def test_a_model_knows_no_names_from_private_notes(root: Path) -> None:
    (root / "Mint.md").write_text("---\nkind: herb\n---\n#plant\n", "utf-8")
    (root / "Will.md").write_text("---\nai: private\nheir: Zoe\n---\n#secret\n", "utf-8")
    settings = Settings()
    settings.embeddings.enabled = False
    workspace = await open_workspace(root, settings, None, brief=True)
    try:
        await workspace.start_scan(lambda progress: None)
        known = workspace._vault_words()
        assert ("heir", "Zoe") in known.values and "secret" in known.tags
        public = workspace.agent._builtin._public_words()
        assert public.values == (("kind", "herb"),) and public.tags == ("plant",)
        assert "heir" not in public.properties
        builtin = workspace.agent._builtin
        vocabulary = builtin._requests.vocabulary_of(public, builtin._public_resolver())(languages()[0])
        assert vocabulary.notes("Mint") and not vocabulary.notes("Will")
        assert not vocabulary.find_similar_notes("wills").paths
        assert _named_note("What does Will say?", builtin._public_resolver()) == ()
    finally:
        await workspace.close()
