"""The languages of a vault are measured in the worker on a sample without private notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.embeddings import languages
from app.embeddings.languages import VaultLanguages, measure_languages
from app.vault.path import NotePath
from tests.embeddings.test_vectors import Notes

ENGLISH = "The navigator measures the height of the sun above the horizon every day at noon, number {}."
GERMAN = "Der Steuermann misst jeden Tag um die Mittagszeit die Höhe der Sonne über dem Horizont, Nummer {}."
SPANISH = "El navegante mide cada día a mediodía la altura del sol sobre el horizonte, número {}."
CHINESE = "航海家每天中午測量太陽在地平線上的高度,這是第 {} 次,並且寫在航海日誌裡。"
CODE = "```python\nfor i in range({}): print(i)\n```"


async def measured(notes: Notes, excluded: str = "") -> VaultLanguages:
    found = await measure_languages(notes, notes, lambda path: path.name == excluded)  # type: ignore[arg-type]
    assert found is not None
    return found


def of(*texts: str, each: int = 6) -> Notes:
    return Notes(
        **{f"n{at}x{number}": text.format(number) for at, text in enumerate(texts) for number in range(each)}
    )


async def test_three_languages_are_distinguished() -> None:
    found = await measured(of(ENGLISH, GERMAN, SPANISH))
    assert dict(found.shares) == pytest.approx({"en": 1 / 3, "de": 1 / 3, "es": 1 / 3})
    assert found.notes == 18
    assert found.need_multilingual


async def test_chinese_is_one_language() -> None:
    found = await measured(of(CHINESE))
    assert dict(found.shares) == {"zh": 1.0}


async def test_an_english_vault_needs_no_other_model() -> None:
    found = await measured(of(ENGLISH, CODE))
    assert found.non_english_share == 0
    assert not found.need_multilingual


async def test_a_few_foreign_notes_are_no_reason() -> None:
    notes = of(ENGLISH, each=30)
    notes.set("zitat", GERMAN)
    found = await measured(notes)
    assert found.shares[1][0] == "de"
    assert not found.need_multilingual
    assert not (await measured(of(GERMAN, each=2))).need_multilingual


async def test_private_and_excluded_notes_are_never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = of(ENGLISH)
    notes.set("secret", f"---\nai: private\n---\n{GERMAN}")
    notes.set("denied", SPANISH)
    judged: list[str] = []
    real = languages._sample_texts

    def watch(*given: object) -> list[str]:
        texts = real(*given)  # type: ignore[arg-type]
        judged.extend(texts)
        return texts

    monkeypatch.setattr(languages, "_sample_texts", watch)
    found = await measured(notes, "denied")
    assert dict(found.shares) == {"en": 1.0}
    assert len(judged) == 6
    assert not [text for text in judged if "Steuermann" in text or "navegante" in text]


async def test_a_note_that_became_private_on_disk_is_left_out() -> None:
    notes = of(ENGLISH)
    path = NotePath.parse("n0x0.md")
    fresh = Notes(**{"n0x0": f"---\nai: private\n---\n{GERMAN}"})
    real = notes.read
    notes.read = lambda asked: fresh.read(path) if asked == path else real(asked)  # type: ignore[method-assign]
    assert (await measured(notes)).notes == 5


async def test_an_empty_vault_starts_no_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(languages, "WorkerProcess", None)
    assert await measured(of("{}")) == VaultLanguages(0, ())
