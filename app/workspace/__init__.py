"""The composition root: opens a vault and assembles its parts. Everything here runs in one event loop.

Front ends open a vault with `open_vault` and use it through the `VaultService` that it returns: the desktop,
the command line and tests open the same one with different approvers. Nothing here knows a window.
"""

from app.workspace.embedding_service import ModelPreparing, ModelSwitched
from app.workspace.open_vault import open_vault, open_workspace
from app.workspace.service import VaultService
from app.workspace.vault_storage import StoreReplaced
from app.workspace.workspace import SettingsChanged, Workspace

__all__ = [
    "ModelPreparing",
    "ModelSwitched",
    "SettingsChanged",
    "StoreReplaced",
    "VaultService",
    "Workspace",
    "open_vault",
    "open_workspace",
]
