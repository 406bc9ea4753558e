"""Convert settings that older versions saved."""

from __future__ import annotations

from typing import get_args

from app.settings.section import SettingsSection
from app.settings.sections import ModelSettings, PermissionSettings, Settings
from app.settings.vault import VaultSettings

Raw = dict[str, object]
_PROVIDERS = frozenset(get_args(ModelSettings.model_fields["provider"].annotation))


def upgrade(kind: type[SettingsSection], raw: Raw) -> None:
    """Convert raw settings to the current form, in place, before they are validated."""
    if kind is Settings:
        _convert_answering(raw)
    elif kind in (PermissionSettings, VaultSettings):
        _merge_categories(raw)


def _convert_answering(raw: Raw) -> None:
    """Convert the provider “built-in” and the `answers` fields of older versions to `answering`."""
    model, team, programs, agent = (raw.get(name) for name in ("model", "team", "programs", "agent"))
    provider = model.get("provider") if isinstance(model, dict) else None
    if provider == "built-in" and isinstance(model, dict):
        del model["provider"]
    names = [part.pop("answers", "") if isinstance(part, dict) else "" for part in (programs, team)]
    if agent is None:
        agent = raw["agent"] = {}
    if not isinstance(agent, dict) or "answering" in agent:
        return
    for kind, name, known_names in zip(
        ("program", "team"),
        names,
        (_names(programs, "programs"), _names(team, "agents", "groups")),
        strict=True,
    ):
        if isinstance(name, str) and name.casefold() in known_names:
            agent["answering"] = {"kind": kind, "name": name}
            if provider in (None, "built-in") and isinstance(model, dict):
                # The team used no model, so none may be set up for it now.
                model["model"] = ""
            return
    if provider in _PROVIDERS:
        agent["answering"] = {"kind": "model"}


def _names(section: object, *lists: str) -> set[str]:
    """Return the case-folded names of the entries in a section's lists."""
    if not isinstance(section, dict):
        return set()
    entries = [entry for name in lists if isinstance(section.get(name), list) for entry in section[name]]
    return {str(entry["name"]).casefold() for entry in entries if isinstance(entry, dict) and "name" in entry}


def _merge_categories(raw: Raw) -> None:
    """Merge the lists `categories_on` and `categories_off` into the map `categories`.

    An entry of the map overrides the lists, and `categories_off` overrides `categories_on`.
    """
    on, off = raw.pop("categories_on", ()), raw.pop("categories_off", ())
    lists = [ids if isinstance(ids, list | tuple) else None for ids in (on, off)]
    if None in lists or not all(isinstance(category_id, str) for ids in lists for category_id in ids or ()):
        # A list that can't be understood may protect something, so the map becomes invalid, too.
        raw["categories"] = [on, off]
        return
    merged = {
        str(category_id): state
        for ids, state in zip(lists, (True, False), strict=True)
        for category_id in ids or ()
    }
    categories = raw.get("categories", {})
    if merged and isinstance(categories, dict):
        raw["categories"] = {**merged, **categories}


def move_enabled_categories(settings: Settings) -> None:
    """Move the list of enabled categories from the tools, where older versions kept it, to the permissions.

    While the permission rules can't be read, the list stays where it is.
    """
    extra = settings.tools.__pydantic_extra__
    if not extra or "categories_on" not in extra or settings.permissions.is_unreadable:
        return
    on = extra.pop("categories_on")
    ids = [category_id for category_id in on if isinstance(category_id, str)] if isinstance(on, list) else []
    configured = settings.permissions.categories
    settings.permissions = settings.permissions.model_copy(
        update={"categories": {**dict.fromkeys(ids, True), **configured}}
    )
