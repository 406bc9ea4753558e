"""External servers on the settings page, with real programs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from app.desktop.bridge import ServiceThread
from app.desktop.runtime import tasks
from app.desktop.settings.external.page import ExternalServersPage
from app.desktop.settings.external.server_card import ServerCard
from app.desktop.settings.external.server_form import ServerDialog
from app.desktop.settings.external.tool_review import ALLOW_RESULT, ToolReviewDialog
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.diff.row_layout import DiffMode
from app.external.states import ToolState
from app.settings import ExternalServer, ExternalSettings, Settings
from tests.desktop.whole_vault import WholeVault, whole_vault
from tests.support.external_servers import QUICK, PlainServer, listed


def setup_of(vault: WholeVault, servers: tuple[ExternalServer, ...] = ()) -> ExternalServersPage:
    """Return the page, whose changes take effect like those of the settings dialog."""
    page = ExternalServersPage(vault.client, ThemeSource("light"), servers)

    def apply(value: object) -> None:
        settings = Settings()
        settings.embeddings.enabled = False
        settings.external = ExternalSettings.model_validate({"servers": value})
        vault.client._service.post(lambda: vault.workspace.apply_settings(settings))

    vault.workspace.external.timeouts = QUICK
    page.changed.connect(apply)
    if servers:
        apply(servers)
    return page


def offered(vault: WholeVault) -> list[str]:
    return [tool.name for tool in vault.workspace.registry.all_tools() if "__" in tool.name]


def test_the_errors_of_a_server_follow_the_zoom(qtbot: QtBot) -> None:
    server = ExternalServer(name="Weather", command="weather")
    sizes = []
    for zoom in (1.0, 2.0):
        card = ServerCard(server, ThemeSource("light", zoom=zoom))
        qtbot.addWidget(card)
        sizes.append(card.errors.font().pointSizeF())
    assert sizes[1] == 2 * sizes[0]


def test_a_server_is_shown_and_its_tools_are_allowed_by_their_marks(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        plain = PlainServer(tmp_path, "Weather")
        plain.configure(tools=[listed("echo", "Says it again."), listed("other")])
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            setup = setup_of(vault, (plain.settings,))
            card = setup.cards["Weather"]
            await wait_until(lambda: card.state_label.text().startswith("Running"))
            await wait_until(lambda: card.tree.topLevelItemCount() == 2)
            row = card.tree.topLevelItem(0)
            assert (row.text(0), row.text(1), row.text(2)) == ("echo", "Says it again.", "New")
            assert not card.all_button.isHidden()
            row.setCheckState(0, Qt.CheckState.Checked)
            await wait_until(lambda: offered(vault) == ["weather__echo"])
            await wait_until(lambda: card.tools_label.text() == "2 tools, 1 allowed")
            card.tree.topLevelItem(0).setCheckState(0, Qt.CheckState.Unchecked)
            await wait_until(lambda: offered(vault) == [] and card.tools_label.text() == "2 tools, 0 allowed")
            card.all_button.click()
            await wait_until(lambda: len(offered(vault)) == 2)
            card.switch.click()
            await wait_until(lambda: card.state_label.text() == "Off" and offered(vault) == [])
            assert setup.value[0].on is False
            setup.deleteLater()

    gui(main())


def test_a_changed_tool_is_reviewed_before_it_is_allowed_again(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        plain = PlainServer(tmp_path, "Weather")
        plain.configure(tools=[listed("echo", "Says it again.")])
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            setup = setup_of(vault, (plain.settings,))
            card = setup.cards["Weather"]
            await wait_until(lambda: card.tree.topLevelItemCount() == 1)
            card.tree.topLevelItem(0).setCheckState(0, Qt.CheckState.Checked)
            await wait_until(lambda: offered(vault) == ["weather__echo"])
            plain.configure(tools=[listed("echo", "Sends it away.\u202e")])
            await vault.call("weather__echo", {})
            await wait_until(lambda: card.tree.topLevelItem(0).text(2).startswith("Changed"))
            card.tree.topLevelItem(0).setCheckState(0, Qt.CheckState.Checked)
            await wait_until(lambda: setup.findChild(ToolReviewDialog) is not None)
            review = setup.findChild(ToolReviewDialog)
            await wait_until(lambda: review.view.diff is not None)
            assert review.view.diff.hunks and offered(vault) == []
            assert card.tree.topLevelItem(0).checkState(0) is Qt.CheckState.Unchecked
            assert review.focusWidget().text() == "Don't allow"
            review.done(ALLOW_RESULT)
            await wait_until(lambda: offered(vault) == ["weather__echo"])
            setup.deleteLater()

    gui(main())


def test_a_new_tool_is_reviewed_as_one_text(qtbot: QtBot) -> None:
    tool = ToolState("echo", "weather__echo", "Says it again.", "new", current_text="Says it again.")
    review = ToolReviewDialog("Weather", tool, ThemeSource("light"), None)
    qtbot.addWidget(review)
    review.show()
    assert review.view.diff is not None and not review.view.diff.before
    assert review.view.mode is DiffMode.UNIFIED


def test_a_failing_server_says_why_and_can_be_tried_again(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        plain = PlainServer(tmp_path, "Weather")
        plain.configure(tools=[], dies="no such module")
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            setup = setup_of(vault, (plain.settings,))
            card = setup.cards["Weather"]
            await wait_until(lambda: "no such module" in card.errors.text())
            await wait_until(lambda: "status 7" in card.state_label.text())
            plain.configure(tools=[listed("echo")])
            card.retry_button.click()
            await wait_until(lambda: card.state_label.text().startswith("Running"))
            assert card.errors.isHidden() and card.retry_button.isHidden()
            setup.deleteLater()

    gui(main())


def test_the_form_takes_a_program_or_an_address_tries_it_and_keeps_the_token(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        plain = PlainServer(tmp_path, "Weather")
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            form = ServerDialog(vault.client, None, ("My server",), None)
            form.save_button.click()
            assert form.server is None and "name" in form.message_label.text()
            form.name.setText("my-server")
            form.save_button.click()
            assert form.server is None and "very similar" in form.message_label.text()
            form.name.setText("Weather")
            form.command.setText(plain.settings.command)
            form.arguments.setText('-S "half')
            form.save_button.click()
            assert "quotation mark" in form.message_label.text()
            form.arguments.setText(" ".join(f'"{argument}"' for argument in plain.settings.arguments))
            form.test_button.click()
            await wait_until(lambda: "1 tool, 0 allowed" in form.message_label.text())
            plain.configure(tools=[])
            form.test_button.click()
            await wait_until(lambda: form.message_label.text().endswith(". No tools offered."))
            form.save_button.click()
            assert form.server == plain.settings.model_copy(update={"seconds": 60})
            form.deleteLater()
            far = ServerDialog(vault.client, None, (), None)
            far.name.setText("Far")
            far.kind.setCurrentIndex(1)
            far.address.setText("https://me:secret@example.org/mcp")
            far.save_button.click()
            assert far.server is None and "password" in far.message_label.text()
            far.address.setText("https://example.org/mcp")
            far.token.setText("sesame")
            far.save_button.click()
            assert far.server is not None and far.server.transport == "http"
            account = ("external-Far", "https://example.org:443")
            await wait_until(lambda: vault.workspace.keys.get(*account) == "sesame")
            far.deleteLater()

    gui(main())


def test_a_server_is_added_edited_and_removed(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        plain = PlainServer(tmp_path, "Weather")
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            setup = setup_of(vault)
            assert not setup.empty.isHidden()
            setup.add_button.click()
            await wait_until(lambda: setup.findChild(ServerDialog) is not None)
            form = setup.findChild(ServerDialog)
            form.server = plain.settings
            QDialog.done(form, 1)
            await wait_until(
                lambda: "Weather" in setup.cards and setup.cards["Weather"].tree.topLevelItemCount() == 1
            )
            assert setup.empty.isHidden() and setup.value == (plain.settings,)
            card = setup.cards["Weather"]
            card.tree.topLevelItem(0).setCheckState(0, Qt.CheckState.Checked)
            await wait_until(lambda: offered(vault) == ["weather__echo"])
            card.removed.emit()
            await wait_until(
                lambda: any(type(one).__name__ == "SheetDialog" for one in setup.findChildren(QDialog))
            )
            (sheet,) = (one for one in setup.findChildren(QDialog) if type(one).__name__ == "SheetDialog")
            sheet.done(1)
            await wait_until(lambda: setup.value == () and offered(vault) == [])
            file = Path(str(vault.workspace.external._pins._file.path))
            await wait_until(lambda: "Weather" not in file.read_text("utf-8"))
            setup.deleteLater()

    gui(main())


def test_a_renamed_server_keeps_its_token_and_stays_off(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        far = ExternalServer(name="Far", transport="http", address="http://127.0.0.1:9/mcp", on=True)
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            keys = vault.workspace.keys
            account, new_account = (("external-" + name, "http://127.0.0.1:9") for name in ("Far", "Near"))
            keys.set(*account, "sesame")
            setup = setup_of(vault, (far,))
            setup.cards["Far"].switch.click()
            setup.cards["Far"].edited.emit()
            await wait_until(lambda: setup.findChild(ServerDialog) is not None)
            form = setup.findChild(ServerDialog)
            form.name.setText("Near")
            form.save_button.click()
            await wait_until(lambda: [(one.name, one.on) for one in setup.value] == [("Near", False)])
            await wait_until(lambda: keys.get(*account) is None)
            assert keys.get(*new_account) == "sesame"
            setup.deleteLater()

    gui(main())


def test_a_server_whose_token_cannot_be_stored_keeps_its_name_and_token(
    gui, service: ServiceThread, wait_until, tmp_path: Path, monkeypatch, errors: list[str]
) -> None:
    errors.append("failed to change the servers")

    async def main() -> None:
        far = ExternalServer(name="Far", transport="http", address="http://127.0.0.1:9/mcp", on=False)
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            keys = vault.workspace.keys
            account = ("external-Far", "http://127.0.0.1:9")
            keys.set(*account, "sesame")
            failures: list[tasks.TaskFailure] = []
            setup = setup_of(vault, (far,))
            monkeypatch.setattr(keys, "set", lambda *_: False)
            disconnect = tasks.failed.connect(failures.append)
            setup.cards["Far"].edited.emit()
            await wait_until(lambda: setup.findChild(ServerDialog) is not None)
            form = setup.findChild(ServerDialog)
            form.name.setText("Near")
            form.save_button.click()
            await wait_until(lambda: len(failures) == 1)
            disconnect()
            assert [one.name for one in setup.servers] == ["Far"]
            assert keys.get(*account) == "sesame"
            setup.deleteLater()

    gui(main())


def test_without_a_vault_the_list_can_be_looked_at(qtbot) -> None:
    far = ExternalServer(name="Far", transport="http", address="https://example.org/mcp")
    setup = ExternalServersPage(None, ThemeSource("dark"), (far,))
    qtbot.addWidget(setup)
    assert setup.cards["Far"].location_label.text() == "https://example.org/mcp"
    assert setup.cards["Far"].tree.isHidden() and setup.cards["Far"].state is None
    form = ServerDialog(None, far, (), None)
    qtbot.addWidget(form)
    assert not form.test_button.isEnabled() and form.command.isHidden() and not form.address.isHidden()
