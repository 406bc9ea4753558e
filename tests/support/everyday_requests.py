"""The built-in agent's interpretation of requests, with the sample vault's names."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from app.agent.builtin import BuiltinAgent
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import Interpretation
from app.agent.language.words.vault_words import VaultWords
from app.index.records import PropertyValueShares
from app.index.resolver import Resolver
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES, FILE_TOOL
from app.vault.path import NotePath

VAULT = Path(__file__).resolve().parents[2] / "resources" / "sample-vault"
NOW = datetime(2026, 3, 18, 12)
HERE = DialogState(open_note="Instruments/H1.md")
PROPERTIES = ("type", "confidence", "born", "died", "year", "status")
WORDS = VaultWords(
    ("instrument", "core", "star", "claim", "todo", "mechanism"),
    ("note", "concept", "entity", "hypothesis", "observation", "source"),
    PROPERTIES,
    value_shares=tuple(map(PropertyValueShares, PROPERTIES)),
)


def sample_agent(*, all_on: bool = False, off: str = "") -> BuiltinAgent:
    """Return the built-in agent, which knows the sample vault's names but opens no vault.

    Args:
        all_on: Switch on all categories of tools.
        off: A category to switch off.
    """
    resolver = Resolver()
    for file in sorted(VAULT.rglob("*")):
        if file.is_file():
            resolver.add(NotePath.on_disk(file.relative_to(VAULT).as_posix()))
    registry = ToolRegistry(CATEGORIES, (*CATALOG, FILE_TOOL))
    for category in registry.categories:
        if all_on:
            registry.set_category(category.id, on=True)
    if off:
        registry.set_category(off, on=False)
    return BuiltinAgent(registry, resolver, lambda: WORDS, now=lambda: NOW)


def read(agent: BuiltinAgent, text: str, state: DialogState = HERE) -> Interpretation:
    """Return the interpretation of a request."""
    return agent.interpret(text, state)
