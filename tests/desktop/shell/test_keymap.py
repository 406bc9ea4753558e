"""Which command has which shortcut, after the user's changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.desktop.shell.command_registry import COMMANDS, COMMANDS_BY_ID
from app.desktop.shell.keymap import Keymap, portable_shortcut
from app.settings import ShortcutSettings

DEFAULTS = {command.id: command.shortcuts for command in COMMANDS}
KEYS = sorted({keys for shortcuts in DEFAULTS.values() for keys in shortcuts} | {"Alt+X", "F7"})
changes = st.dictionaries(
    st.sampled_from(sorted(DEFAULTS)), st.lists(st.sampled_from(KEYS), max_size=2).map(tuple), max_size=5
)


def keymap(**custom: tuple[str, ...]) -> Keymap:
    return Keymap(ShortcutSettings(custom={name.replace("_", "-"): keys for name, keys in custom.items()}))


def test_without_changes_every_command_has_its_default() -> None:
    assert keymap().shortcuts == DEFAULTS
    assert all(portable_shortcut(keys) == keys for shortcuts in DEFAULTS.values() for keys in shortcuts)


def test_a_change_replaces_the_default_and_an_empty_list_removes_it() -> None:
    changed = keymap(save_note=("ctrl+shift+s",), back=())
    assert changed.shortcuts["save-note"] == ("Ctrl+Shift+S",) and changed.is_changed("save-note")
    assert changed.shortcuts["back"] == () and changed.text("back") == ""
    assert changed.tooltip("save-note") == "Save (Ctrl+Shift+S)" and changed.tooltip("back") == "Back"
    assert not changed.is_changed("forward")


def test_a_chosen_shortcut_is_no_longer_the_default_of_another_command() -> None:
    changed = keymap(save_note=("Ctrl+P",))
    assert changed.shortcuts["save-note"] == ("Ctrl+P",) and changed.shortcuts["go-note"] == ()


@pytest.mark.parametrize(
    "keys", ["Ctrl+Bogus", "", "A", "Shift+A", "Return", "Tab", "Del", "Ctrl+K, Ctrl+S", "Alt"]
)
def test_an_invalid_shortcut_is_ignored_and_reported(keys: str) -> None:
    changed = keymap(save_note=(keys,))
    assert changed.shortcuts == DEFAULTS
    (problem,) = changed.problems
    assert "Save" in problem and keys in problem
    assert keymap(save_note=(keys, "F7")).shortcuts["save-note"] == ("F7",)


def test_an_unknown_command_is_kept() -> None:
    changed = keymap(from_the_future=("F7",))
    assert changed.shortcuts == DEFAULTS and changed.problems == ()
    assert changed.unknown_ids == ("from-the-future",)
    custom = changed.assign("save-note", ("F6",))
    assert custom == {"from-the-future": ("F7",), "save-note": ("F6",)}


def test_a_reassigned_shortcut_is_taken_from_the_other_command() -> None:
    before = keymap()
    assert before.conflicts("save-note", ("Ctrl+=",)) == {"Ctrl+=": COMMANDS_BY_ID["zoom-in"]}
    assert before.conflicts("zoom-in", ("Ctrl+=",)) == {}
    custom = before.assign("save-note", ("Ctrl+=",))
    assert custom == {"save-note": ("Ctrl+=",), "zoom-in": ("Ctrl++",)}


def test_only_differences_from_the_defaults_are_saved() -> None:
    changed = Keymap(ShortcutSettings(custom=keymap().assign("save-note", ("Ctrl+P",))))
    assert changed.assign("save-note", ("Ctrl+S",)) == {"go-note": ()}
    assert changed.assign("go-note", ("Ctrl+P",)) == {"save-note": ()}


@given(changes, st.sampled_from(sorted(DEFAULTS)), st.sampled_from(KEYS))
def test_a_shortcut_belongs_to_one_command(
    custom: dict[str, tuple[str, ...]], command_id: str, keys: str
) -> None:
    before = Keymap(ShortcutSettings(custom=custom))
    after = Keymap(ShortcutSettings(custom=before.assign(command_id, (keys,))))
    for one in (before, after):
        all_keys = [each for shortcuts in one.shortcuts.values() for each in shortcuts]
        assert len(all_keys) == len(set(all_keys))
    assert after.shortcuts[command_id] == (keys,)
    # Other commands keep their shortcuts, and can get back those that this command no longer has.
    for other in DEFAULTS.keys() - {command_id}:
        kept = set(before.shortcuts[other]) - {keys}
        assert kept <= set(after.shortcuts[other]) <= kept | set(before.shortcuts[command_id])
