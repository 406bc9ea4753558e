"""Known programs that speak the protocol; offered if they are installed, never downloaded."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from app.settings import AgentProgram


@dataclass(frozen=True, slots=True)
class AgentPreset:
    """A program's file name, and the arguments that make it speak the protocol.

    `variables` are the environment variables that it may need.
    """

    name: str
    command: str
    arguments: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


PRESETS = (
    AgentPreset("Claude Code", "claude-agent-acp", (), ("ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR")),
    AgentPreset("Claude Code", "claude-code-acp", (), ("ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR")),
    AgentPreset("Codex", "codex-acp", (), ("OPENAI_API_KEY", "CODEX_HOME")),
    AgentPreset(
        "Gemini CLI", "gemini", ("--acp",), ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT")
    ),
    AgentPreset("Copilot CLI", "copilot", ("--acp",)),
    AgentPreset("Cursor CLI", "cursor-agent", ("acp",), ("CURSOR_API_KEY",)),
    AgentPreset("Goose", "goose", ("acp",)),
    AgentPreset("Kimi CLI", "kimi", ("acp",)),
    AgentPreset("Kiro CLI", "kiro-cli", ("acp",)),
    AgentPreset("Mistral Vibe", "vibe-acp", (), ("MISTRAL_API_KEY",)),
    AgentPreset("OpenCode", "opencode", ("acp",)),
    AgentPreset("Qwen Code", "qwen", ("--acp",)),
)


def installed_presets() -> tuple[AgentProgram, ...]:
    """Return the known programs that are installed, one for each name. Reads the disk."""
    programs: dict[str, AgentProgram] = {}
    for preset in PRESETS:
        if preset.name not in programs and shutil.which(preset.command):
            programs[preset.name] = AgentProgram(
                name=preset.name,
                command=preset.command,
                arguments=preset.arguments,
                variables=preset.variables,
            )
    return tuple(programs.values())
