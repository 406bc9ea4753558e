"""What holds for one vault: what the user has set for it, and the rules that it brings."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from app.errors import InvalidParametersError
from app.settings.rules import CallLimit, Rule
from app.settings.section import GuardedSection
from app.settings.sections import ToolSettings


class VaultSettings(GuardedSection):
    """What the user has set for one vault: kept in their data folder, added to the settings for all."""

    categories_on: tuple[str, ...] = ()
    categories_off: tuple[str, ...] = ()
    limits: tuple[CallLimit, ...] = ()

    def has_category_on(self, id: str, tools: ToolSettings, *, by_default: bool) -> bool:
        """Whether the category of tools `id` is on in this vault.

        Args:
            id: The category.
            tools: The settings for all vaults.
            by_default: Whether it is on where nothing is set.
        """
        wanted = by_default or id in tools.categories_on or id in self.categories_on
        return wanted and id not in self.categories_off


class VaultRules(BaseModel):
    """What a vault's `.scriptorium/rules.toml` may say: ask, deny, and categories to switch off."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    rules: tuple[Rule, ...] = ()
    categories_off: tuple[str, ...] = ()
    bulk_threshold: int | None = Field(None, ge=1)

    @property
    def tightening(self) -> tuple[Rule, ...]:
        """The rules that can only tighten; a vault's `allow` is ignored."""
        return tuple(rule for rule in self.rules if rule.effect != "allow")


def load_vault_rules(root: Path) -> VaultRules:
    """The rules that the vault at `root` brings; none when it brings no file.

    Raises:
        InvalidParametersError: the file is there and can't be read. The caller must then treat the
            vault as one that denies changes: rules that tighten must not get lost by a typing error.
    """
    file = root / ".scriptorium" / "rules.toml"
    try:
        return VaultRules.model_validate(tomllib.loads(file.read_text("utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return VaultRules()
    except (OSError, ValueError) as error:
        raise InvalidParametersError(
            f"The vault's rules in {file} can't be read, so no agent may change it: {error}",
            path=str(file),
        ) from error
