"""The plug-ins of the user's folder in the settings."""

from __future__ import annotations

from app import paths
from app.desktop.settings.dialog_factory import create_settings_dialog
from app.desktop.settings.plugins import PluginList
from app.desktop.theme.theme import ThemeSource
from app.settings import Settings
from tests.support.settings_rows import visible_settings
from tests.toolkit.test_plugins import install


def test_a_plug_in_is_switched_in_the_settings(qtbot, gui) -> None:
    async def switch() -> None:
        _switch(qtbot)

    gui(switch())


def _switch(qtbot) -> None:
    install(paths.plugin_folder() / "support")
    (paths.plugin_folder() / "empty").mkdir()
    changes: list[Settings] = []
    dialog = create_settings_dialog(Settings(), ThemeSource("light"), None, None)
    qtbot.addWidget(dialog)
    dialog.changed.connect(changes.append)
    dialog.editor_of("tools", "plugins_on")
    (switches,) = dialog.findChildren(PluginList)
    assert set(switches.boxes) == {"support"}, "what can't be loaded has no switch"
    switches.boxes["support"].click()
    assert changes[-1].tools.plugins_on == ("support",)
    switches.boxes["support"].click()
    assert changes[-1].tools.plugins_on == ()
    dialog.search.setText("plug-ins wheel")
    assert "tools." in visible_settings(dialog)
