"""The user's settings: pydantic models whose titles and descriptions feed the settings dialog.

They are saved as JSON in the user's configuration folder, with the permission rules in a file of their own;
the settings for one vault are in its data folder. None of these files is in a vault or contains API keys,
which are in the system's key store (`app/agent/credentials.py`). A vault's own `.scriptorium/rules.toml` can
only tighten what these settings allow (`VaultRules`).
"""

from app.settings.answering import AnswerByBuiltIn, AnswerByModel, AnswerByProgram, AnswerByTeam
from app.settings.rules import (
    CallerProfile,
    CallLimit,
    Effect,
    OperationName,
    Rule,
    TurnRule,
)
from app.settings.section import SettingsSection
from app.settings.sections import (
    AgentSettings,
    EditorSettings,
    EmbeddingSettings,
    GeneralSettings,
    IndexSettings,
    JournalSettings,
    MessageSettings,
    ModelSettings,
    PermissionSettings,
    Settings,
    ShortcutSettings,
    ToolSettings,
    UpdateSettings,
    WebSettings,
)
from app.settings.servers import (
    AgentProgram,
    AgentProgramSettings,
    ExternalServer,
    ExternalSettings,
    ServerSettings,
)
from app.settings.storage import (
    load_settings,
    load_vault_settings,
    save_settings,
    save_vault_settings,
    settings_file,
)
from app.settings.team import NAME_PATTERN, AgentGroup, AgentProfile, TeamSettings
from app.settings.vault import VaultRules, VaultSettings, load_vault_rules

__all__ = [
    "NAME_PATTERN",
    "AgentGroup",
    "AgentProfile",
    "AgentProgram",
    "AgentProgramSettings",
    "AgentSettings",
    "AnswerByBuiltIn",
    "AnswerByModel",
    "AnswerByProgram",
    "AnswerByTeam",
    "CallLimit",
    "CallerProfile",
    "EditorSettings",
    "Effect",
    "EmbeddingSettings",
    "ExternalServer",
    "ExternalSettings",
    "GeneralSettings",
    "IndexSettings",
    "JournalSettings",
    "MessageSettings",
    "ModelSettings",
    "OperationName",
    "PermissionSettings",
    "Rule",
    "ServerSettings",
    "Settings",
    "SettingsSection",
    "ShortcutSettings",
    "TeamSettings",
    "ToolSettings",
    "TurnRule",
    "UpdateSettings",
    "VaultRules",
    "VaultSettings",
    "WebSettings",
    "load_settings",
    "load_vault_rules",
    "load_vault_settings",
    "save_settings",
    "save_vault_settings",
    "settings_file",
]
