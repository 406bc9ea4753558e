"""The composition root: opens a vault and assembles its parts. Everything here runs in one event loop.

`open_workspace` builds the parts, all other modules receive them. A workspace has no window: the desktop, the
command line and tests open the same one with different approvers.
"""

from app.workspace.open_vault import open_workspace
from app.workspace.workspace import SettingsChanged, Workspace

__all__ = ["SettingsChanged", "Workspace", "open_workspace"]
