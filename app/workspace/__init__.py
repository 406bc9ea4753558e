"""The composition root: opens a vault and puts its parts together. Everything here lives in one event loop.

`open_workspace` builds, everything else receives. A workspace has no window: the desktop, the command line
and tests open the same one with another approver.
"""

from app.workspace.open_vault import open_workspace
from app.workspace.workspace import SettingsChanged, Workspace

__all__ = ["SettingsChanged", "Workspace", "open_workspace"]
