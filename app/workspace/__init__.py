"""The composition root: opens a vault and assembles its parts. Everything here runs in one event loop.

Front ends open a vault with `open_vault` and use it through the `VaultService` that it returns: the desktop
and the command line open the same one with different approvers. What is not exported here is internal.
"""

from app.workspace.embedding_service import ModelPreparing, ModelSwitched
from app.workspace.opening import open_vault
from app.workspace.service import VaultService
from app.workspace.vault_storage import StoreReplaced
from app.workspace.workspace import SettingsChanged

__all__ = [
    "ModelPreparing",
    "ModelSwitched",
    "SettingsChanged",
    "StoreReplaced",
    "VaultService",
    "open_vault",
]
