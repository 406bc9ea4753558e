"""Convert settings of older versions, before they are validated."""

from __future__ import annotations

from app.settings.section import SettingsSection
from app.settings.sections import PermissionSettings, Settings
from app.settings.vault import VaultSettings

Raw = dict[str, object]


def upgrade(kind: type[SettingsSection], raw: Raw) -> None:
    """Convert raw settings to the current form, in place; the validation judges the result."""
    if kind in (PermissionSettings, VaultSettings):
        _merge_categories(raw)


def _merge_categories(raw: Raw) -> None:
    """Merge the lists `categories_on` and `categories_off` into the map `categories`; off wins."""
    on, off = raw.pop("categories_on", ()), raw.pop("categories_off", ())
    lists = [ids if isinstance(ids, list | tuple) else None for ids in (on, off)]
    if None in lists or not all(isinstance(id, str) for ids in lists for id in ids or ()):
        # A list that can't be understood may protect something: the map is then invalid, too.
        raw["categories"] = [on, off]
        return
    merged = {str(id): state for ids, state in zip(lists, (True, False), strict=True) for id in ids or ()}
    given = raw.get("categories", {})
    if merged and isinstance(given, dict):
        raw["categories"] = {**merged, **given}


def take_enabled_categories(settings: Settings) -> None:
    """Move the list of enabled categories from the tools, where older versions kept it, to the permissions.

    While the permission rules can't be read, the list stays where it is.
    """
    extra = settings.tools.__pydantic_extra__
    if not extra or "categories_on" not in extra or settings.permissions.is_unreadable:
        return
    on = extra.pop("categories_on")
    ids = [id for id in on if isinstance(id, str)] if isinstance(on, list) else []
    known = settings.permissions.categories
    settings.permissions = settings.permissions.model_copy(
        update={"categories": {**dict.fromkeys(ids, True), **known}}
    )
