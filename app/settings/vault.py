"""Settings for one vault: the user's own, and the rules stored in the vault."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from app.errors import InvalidParametersError
from app.settings.rules import CallLimit, Rule
from app.settings.section import GuardedSection
from app.settings.sections import PermissionSettings


class VaultSettings(GuardedSection):
    """The user's settings for one vault: saved in the data folder, added to the settings for all vaults."""

    categories: dict[str, bool] = Field(default_factory=dict)
    limits: tuple[CallLimit, ...] = ()

    def is_category_on(self, category_id: str, permissions: PermissionSettings, *, by_default: bool) -> bool:
        """Return whether the tool category `category_id` is on in this vault.

        A category that `permissions` turns off is denied by the policy, whatever the result.

        Args:
            category_id: The category.
            permissions: The settings for all vaults.
            by_default: Whether it is on by default.
        """
        return self.categories.get(category_id, permissions.categories.get(category_id) or by_default)

    def with_categories(self, on: bool | None, *ids: str) -> VaultSettings:
        """Return a copy with these categories on or off; None restores the default."""
        other_categories = {
            category_id: value for category_id, value in self.categories.items() if category_id not in ids
        }
        changed_categories = {} if on is None else dict.fromkeys(ids, on)
        return self.model_copy(update={"categories": {**other_categories, **changed_categories}})


class VaultRules(BaseModel):
    """The contents of a vault's `.scriptorium/rules.toml`.

    They are ask and deny rules, categories to turn off, and a bulk threshold.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    rules: tuple[Rule, ...] = ()
    categories_off: tuple[str, ...] = ()
    bulk_threshold: int | None = Field(None, ge=1)

    @property
    def tightening_rules(self) -> tuple[Rule, ...]:
        """The rules that can only restrict access; a vault's `allow` is ignored."""
        return tuple(rule for rule in self.rules if rule.effect != "allow")


def load_vault_rules(root: Path) -> VaultRules:
    """Return the rules in the vault at `root`; without a file, there are none.

    Raises:
        InvalidParametersError: the file can't be read or is invalid. The caller must then deny all changes to
            the vault, so that a typo does not remove restrictions.
    """
    file = root / ".scriptorium" / "rules.toml"
    try:
        return VaultRules.model_validate(tomllib.loads(file.read_text("utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return VaultRules()
    except (OSError, ValueError) as error:
        raise InvalidParametersError(
            f"The vault's rules in {file} can't be read, so no agent may change the vault: {error}",
            path=str(file),
        ) from error
