"""The language model in the settings: the choices, the folder, and the progress of a change."""

from __future__ import annotations

from pathlib import Path

from app.desktop.bridge import ServiceThread
from app.desktop.settings.dialog_factory import create_settings_dialog
from app.desktop.settings.sentence_model_editor import SentenceModelEditor
from app.desktop.theme.theme import ThemeSource
from app.embeddings import multilingual
from app.embeddings.languages import LanguagesMeasured, VaultLanguages
from app.embeddings.model_config import MULTILINGUAL, SHIPPED_MODEL
from app.embeddings.sync_scheduler import EmbeddingProgressed
from app.events import Event
from app.settings import Settings
from app.workspace.embedding_service import ModelPreparing, ModelSwitched
from tests.desktop.whole_vault import whole_vault


def test_the_choices_set_the_model(gui, qtbot, wait_until, monkeypatch) -> None:
    monkeypatch.setattr(multilingual, "state", lambda: "convertible")

    async def main() -> None:
        dialog = create_settings_dialog(Settings(), ThemeSource("light"), None, None)
        qtbot.addWidget(dialog)
        models: list[str] = []
        dialog.changed.connect(lambda settings: models.append(settings.embeddings.model))
        editor = dialog.editor_of("embeddings", "model")
        assert isinstance(editor, SentenceModelEditor)
        assert editor.button(SHIPPED_MODEL).isChecked()
        await wait_until(lambda: "converted on this computer" in editor._multilingual.text())
        editor.button(MULTILINGUAL).click()
        editor.button("").click()
        assert models == [MULTILINGUAL], "another model has no name yet"
        editor.line.setText("some/model")
        editor.line.editingFinished.emit()
        editor.button(SHIPPED_MODEL).click()
        assert models == [MULTILINGUAL, "some/model", SHIPPED_MODEL]

    gui(main())


def test_a_missing_model_cannot_be_chosen_and_the_way_to_it_is_shown(
    gui, qtbot, wait_until, monkeypatch
) -> None:
    monkeypatch.setattr(multilingual, "state", lambda: "missing")

    async def main() -> None:
        editor = SentenceModelEditor(None, SHIPPED_MODEL)
        qtbot.addWidget(editor)
        await wait_until(lambda: not editor.button(MULTILINGUAL).isEnabled())
        assert "packaging/start.py --multilingual" in editor._instructions.text()

    gui(main())


def test_the_progress_of_a_model_change_is_shown(
    gui, service: ServiceThread, tmp_path: Path, qtbot, wait_until
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            editor = SentenceModelEditor(vault.client, "some/model")
            qtbot.addWidget(editor)
            editor.show()
            assert editor.value == "some/model"

            async def publish(event: Event) -> None:
                await vault.run(lambda workspace: workspace.events.publish(event))

            await publish(ModelPreparing(0.4))
            await wait_until(lambda: editor.bar.isVisible() and editor.bar.value() == 40)
            await publish(EmbeddingProgressed(20, 60, switching=True))
            await wait_until(lambda: "20 of 60 notes" in editor.state.text())
            assert "previous model stays in use" in editor.state.text()
            await publish(LanguagesMeasured(VaultLanguages(9, (("de", 0.7), ("en", 0.3)))))
            await wait_until(
                lambda: editor.languages.text() == "Languages in this vault: German 70%, English 30%"
            )
            await publish(ModelSwitched(MULTILINGUAL))
            await wait_until(lambda: editor.bar.isHidden() and "In use" in editor.state.text())

    gui(main())
