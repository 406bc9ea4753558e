"""The composition root: opens a vault and assembles its parts. Everything here runs in one event loop.

Front ends, such as the desktop and the command line, open a vault with `open_vault` and their own approver,
and use it through the returned `VaultService`. Names that are not exported here are internal.
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
