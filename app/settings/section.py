"""Base classes for the sections of the settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, PrivateAttr


class SettingsSection(BaseModel):
    """A section of the settings. It keeps unknown fields, which a newer version may have written."""

    model_config = ConfigDict(extra="allow", validate_assignment=True, defer_build=True)


class GuardedSection(SettingsSection):
    """Settings that restrict agents: while they can't be read, agents must ask before every action.

    `unreadable` is the file that can't be read; empty if there is none. The settings in effect instead (the
    last good version, or the defaults) are not saved until they are changed or accepted: the file is
    left for the user to repair.
    """

    _unreadable: str = PrivateAttr("")
    _replacement: dict[str, object] = PrivateAttr(default_factory=dict)

    @property
    def unreadable(self) -> str:
        """The file that can't be read; empty if there is none."""
        return self._unreadable

    @property
    def is_unreadable(self) -> bool:
        """True if these settings replace a file that can't be read."""
        return bool(self._unreadable) and self.model_dump(mode="json") == self._replacement

    def mark_unreadable(self, file: str) -> None:
        """Mark these settings as a replacement while `file` can't be read."""
        self._unreadable = file
        self._replacement = self.model_dump(mode="json")

    def accept(self) -> None:
        """Accept these settings; the next save writes them."""
        self._unreadable = ""
