"""The settings survive damage: no rule is loosened, the valid rest holds, and the user is told."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app import paths
from app.settings import (
    AnswerByBuiltIn,
    AnswerByModel,
    AnswerByProgram,
    AnswerByTeam,
    CallerProfile,
    PermissionSettings,
    Rule,
    Settings,
    VaultSettings,
    load_settings,
    load_vault_settings,
    save_settings,
    save_vault_settings,
    settings_file,
)
from app.settings.answering import Answering
from app.settings.storage import permissions_file

RULES = PermissionSettings(
    rules=(Rule(effect="deny", glob="Private/**"),),
    categories={"web": False},
    callers=(CallerProfile(caller="Claude", read_only=True),),
)

DAMAGE: dict[str, Callable[[Path], object]] = {
    "emptied": lambda file: file.write_bytes(b""),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "zeroed": lambda file: file.write_bytes(bytes(200)),
    "garbage": lambda file: file.write_bytes(b"\xff\xfe not json"),
    "no object": lambda file: file.write_bytes(b"[1, 2]"),
    "deep": lambda file: file.write_bytes(b"[" * 200_000),
}


def save_test_settings() -> Settings:
    initial_settings = Settings(permissions=RULES)
    initial_settings.general.zoom = 1.5
    save_settings(initial_settings)
    return initial_settings


def test_what_is_saved_is_loaded() -> None:
    made = save_test_settings()
    loaded = load_settings()
    assert loaded.model_dump() == made.model_dump()
    assert loaded.problems == ()
    assert "permissions" not in json.loads(settings_file().read_text("utf-8"))
    files = (settings_file(), permissions_file())
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600, 0o600]


def test_damage_is_reported_even_if_the_last_good_version_has_invalid_values() -> None:
    save_test_settings()
    settings_file().write_bytes(b"{")
    settings_file().with_name("settings.last-good.json").write_text('{"general": {"zoom": 99}}', "utf-8")
    (problem,) = load_settings().problems
    assert problem.startswith("The settings could not be read") and "general.zoom" in problem


def test_invalid_settings_that_cannot_be_set_aside_are_not_overwritten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(13, "Permission denied")

    save_test_settings()
    settings_file().write_text('{"general": {"zoom": 99}}', "utf-8")
    monkeypatch.setattr("app.storage.files.set_aside", refuse)
    (problem,) = load_settings().problems
    assert problem.endswith("settings.json was not changed.")
    assert '"zoom": 99' in settings_file().read_text("utf-8")


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_settings_come_back_from_the_last_good_version_and_rules_stay(damage: str) -> None:
    save_test_settings()
    DAMAGE[damage](settings_file())
    spoilt = settings_file().read_bytes()
    loaded = load_settings()
    assert loaded.general.zoom == 1.5
    assert loaded.permissions == RULES
    (aside,) = paths.config_folder().glob("settings.damaged-*.json")
    assert aside.read_bytes() == spoilt
    assert aside.name in loaded.problems[0]
    assert "last good version" in loaded.problems[0]
    assert load_settings().problems == ()


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("backup", [True, False])
def test_unreadable_rules_are_marked_until_they_are_replaced(damage: str, backup: bool) -> None:
    save_test_settings()
    DAMAGE[damage](permissions_file())
    if not backup:
        permissions_file().with_name("permissions.last-good.json").unlink()
    spoilt = permissions_file().read_bytes()
    for _ in range(2):
        loaded = load_settings()
        assert loaded.permissions.unreadable == str(permissions_file())
        assert loaded.permissions.rules == (RULES.rules if backup else ())
        loaded.general.zoom = 2.0
        save_settings(loaded)
        assert permissions_file().read_bytes() == spoilt, "the file stays for the user to repair"
    loaded.permissions.accept()
    save_settings(loaded)
    assert load_settings().permissions.unreadable == ""
    (aside,) = paths.config_folder().glob("permissions.damaged-*.json")
    assert aside.read_bytes() == spoilt


@pytest.mark.parametrize(
    "rules",
    [
        {"rules": [{"effect": "deny", "glob": "a/**"}, {"effect": "forbid"}]},
        {"rules": "deny everything"},
        {"categories_off": [1]},
        {"categories_off": "web"},
        {"categories": {"web": "perhaps"}},
        {"categories": ["web"]},
        {"callers": [{"caller": "Claude", "read_only": "perhaps"}]},
        {"callers": [{"caller": "Claude", "reed_only": True}]},
    ],
)
def test_a_rule_that_is_not_understood_makes_all_of_them_unreadable(rules: dict[str, object]) -> None:
    permissions_file().write_text(json.dumps(rules), "utf-8")
    assert load_settings().permissions.unreadable


def test_rules_whose_file_is_gone_hold_by_the_last_good_version() -> None:
    save_test_settings()
    permissions_file().unlink()
    loaded = load_settings()
    assert loaded.permissions == RULES
    assert "missing" in loaded.problems[0]


def test_rules_of_an_older_settings_file_move_into_their_own() -> None:
    old = Settings(permissions=RULES).model_dump(mode="json")
    settings_file().write_text(json.dumps(old), "utf-8")
    assert load_settings().permissions == RULES
    assert json.loads(permissions_file().read_text("utf-8"))["categories"] == {"web": False}
    save_settings(load_settings())
    assert load_settings().permissions == RULES


def test_rules_of_an_older_settings_file_that_is_damaged_count_as_unreadable() -> None:
    old = json.dumps(Settings(permissions=RULES).model_dump(mode="json"))
    settings_file().write_text(old[:-30], "utf-8")
    for _ in range(2):
        assert load_settings().permissions.unreadable == str(permissions_file())


def test_values_that_are_not_allowed_leave_the_rest() -> None:
    initial_settings = Settings().model_dump(mode="json", exclude={"permissions"})
    initial_settings["general"] |= {"zoom": 99, "theme": "dark"}
    initial_settings["model"]["temperature"] = "hot"
    initial_settings["tools"]["limits"] = [{"tool": "a", "per_minute": 1}, {"tool": "b", "per_minute": -1}]
    initial_settings["journal"] = 5
    settings_file().write_text(json.dumps(initial_settings), "utf-8")
    spoilt = settings_file().read_bytes()
    loaded = load_settings()
    assert (loaded.general.theme, loaded.general.zoom) == ("dark", 1.0)
    assert [limit.tool for limit in loaded.tools.limits] == ["a"]
    assert all(name in loaded.problems[0] for name in ("general.zoom", "model.temperature", "journal"))
    (aside,) = paths.config_folder().glob("settings.damaged-*.json")
    assert aside.read_bytes() == spoilt
    assert load_settings().problems == ()
    assert load_settings().general.theme == "dark"


def test_settings_of_a_vault_protect_as_the_rules_do(tmp_path: Path) -> None:
    save_vault_settings(tmp_path, VaultSettings(categories={"web": False}))
    assert load_vault_settings(tmp_path)[0].categories == {"web": False}
    (tmp_path / "settings.json").write_text("{", "utf-8")
    found, _ = load_vault_settings(tmp_path)
    assert found.unreadable
    assert found.categories == {"web": False}
    (tmp_path / "settings.last-good.json").unlink()
    assert load_vault_settings(tmp_path)[0].unreadable


def test_a_file_with_an_infinite_number_is_damaged_and_kept() -> None:
    spoilt = '{"general": {"theme": "dark", "extra": [Infinity]}, "agent": []}'
    settings_file().write_text(spoilt, "utf-8")
    loaded = load_settings()
    assert loaded.problems and loaded.general == Settings().general
    (aside,) = paths.config_folder().glob("settings.damaged-*.json")
    assert aside.read_text("utf-8") == spoilt
    assert load_settings().general == loaded.general


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
sections = st.sampled_from(sorted(Settings.model_fields))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(sections, json_values | st.dictionaries(st.sampled_from(["rules", "zoom"]), json_values))
)
def test_no_content_stops_a_start_or_loosens_a_rule(raw: dict[str, object]) -> None:
    for file in paths.config_folder().iterdir():
        file.unlink()
    settings_file().write_text(json.dumps(raw), "utf-8")
    loaded = load_settings()
    if loaded.permissions.rules == () and raw.get("permissions", {}) not in ({}, None):
        given_rules = raw["permissions"].get("rules") if isinstance(raw["permissions"], dict) else "?"
        assert given_rules in ([], None) or loaded.permissions.unreadable
    reloaded = load_settings()
    assert reloaded.general == loaded.general


OLD_SETTINGS = {"general": {"zoom": 1.5}, "tools": {"categories_on": ["web", "tags", 7]}}


def test_lists_of_categories_of_an_older_version_become_one_map(tmp_path: Path) -> None:
    settings_file().write_text(json.dumps(OLD_SETTINGS), "utf-8")
    permissions_file().write_text(json.dumps({"categories_off": ["tags", "search"], "rules": []}), "utf-8")
    for _ in range(2):
        loaded = load_settings()
        assert loaded.problems == () and not loaded.permissions.unreadable
        assert loaded.permissions.categories == {"web": True, "tags": False, "search": False}
        assert loaded.general.zoom == 1.5
        save_settings(loaded)
    assert "categories_on" not in settings_file().read_text("utf-8")
    assert "categories_off" not in permissions_file().read_text("utf-8")
    here = {"categories_on": ["web", "tags"], "categories_off": ["tags"]}
    (tmp_path / "settings.json").write_text(json.dumps(here), "utf-8")
    assert load_vault_settings(tmp_path)[0].categories == {"web": True, "tags": False}


def test_the_old_list_waits_while_the_rules_can_not_be_read() -> None:
    settings_file().write_text(json.dumps(OLD_SETTINGS), "utf-8")
    permissions_file().write_text("{", "utf-8")
    loaded = load_settings()
    assert loaded.permissions.is_unreadable and loaded.permissions.categories == {}
    save_settings(loaded)
    assert permissions_file().read_text("utf-8") == "{"
    permissions_file().write_text('{"categories_off": ["search"]}', "utf-8")
    assert load_settings().permissions.categories == {"web": True, "tags": True, "search": False}


TEAM = {"agents": [{"name": "Anna"}], "groups": []}
PROGRAMS = {"programs": [{"name": "Codex", "command": "codex-acp"}]}


@pytest.mark.parametrize(
    ("old", "answering", "uses_model"),
    [
        ({"model": {"provider": "built-in", "model": "m"}}, AnswerByBuiltIn(), False),
        ({"model": {"provider": "ollama", "model": "m"}}, AnswerByModel(), True),
        ({"model": {"model": "m"}}, AnswerByBuiltIn(), False),
        (
            {"model": {"provider": "ollama", "model": "m"}, "team": {**TEAM, "answers": "Anna"}},
            AnswerByTeam(name="Anna"),
            True,
        ),
        (
            {"model": {"provider": "built-in", "model": "m"}, "team": {**TEAM, "answers": "anna"}},
            AnswerByTeam(name="anna"),
            False,
        ),
        ({"team": {**TEAM, "answers": "Gone"}}, AnswerByBuiltIn(), False),
        (
            {"team": {**TEAM, "answers": "Anna"}, "programs": {**PROGRAMS, "answers": "Codex"}},
            AnswerByProgram(name="Codex"),
            False,
        ),
        ({"model": {"provider": "ollama"}, "programs": {**PROGRAMS, "answers": ""}}, AnswerByModel(), True),
        ({"model": {"provider": "no such"}, "team": {"answers": 5}}, AnswerByBuiltIn(), False),
        ({"model": 5, "team": [], "programs": None, "agent": {"mode": "ask"}}, AnswerByBuiltIn(), False),
    ],
)
def test_who_answers_in_settings_of_an_older_version(
    old: dict[str, object], answering: Answering, uses_model: bool
) -> None:
    settings_file().write_text(json.dumps(old), "utf-8")
    for _ in range(2):
        loaded = load_settings()
        assert loaded.agent.answering == answering
        assert loaded.uses_model is uses_model
        save_settings(loaded)
    saved = json.loads(settings_file().read_text("utf-8"))
    assert "answers" not in saved["team"] and "answers" not in saved["programs"]


def test_a_damaged_choice_of_who_answers_is_the_built_in_agent_and_the_user_is_told() -> None:
    settings_file().write_text('{"agent": {"answering": {"kind": "oracle"}, "mode": "ask"}}', "utf-8")
    loaded = load_settings()
    assert loaded.agent.answering == AnswerByBuiltIn() and loaded.agent.mode == "ask"
    assert "agent.answering" in loaded.problems[0]
