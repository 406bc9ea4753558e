"""Requests with what they mean, and the planner that reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.agent.planner import BuiltinPlanner
from app.agent.plans import CallTool, PlanContext
from app.embeddings.client import Embedder
from app.index.resolver import Resolver
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES
from app.vault.path import NotePath

HERE = Path(__file__).resolve().parents[1] / "agent"
VAULT = HERE.parents[1] / "resources" / "sample-vault"
CONTEXT = PlanContext(open_note="Instruments/H1.md", last_notes=("People/John Harrison.md",))


@dataclass(frozen=True)
class Request:
    """A request and the one call that it means."""

    text: str
    tool: str
    arguments: Mapping[str, object]


def read_requests(name: str) -> list[Request]:
    """The labelled requests of a file in tests/agent."""
    found = []
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("# "):
            text, _, meaning = line.partition(" => ")
            tool, *pairs = meaning.split(" | ")
            arguments = dict(_pair(pair) for pair in pairs)
            found.append(Request(text.replace("\\n", "\n"), tool.strip(), arguments))
    return found


def _pair(text: str) -> tuple[str, object]:
    key, _, value = text.partition("=")
    if key in ("tags", "properties", "remove"):
        return key, json.loads(value)
    return key, value.replace("\\n", "\n")


def sample_resolver() -> Resolver:
    """The resolver of the shipped sample vault."""
    resolver = Resolver()
    for file in sorted(VAULT.rglob("*")):
        if file.is_file():
            resolver.add(NotePath.on_disk(file.relative_to(VAULT).as_posix()))
    return resolver


def planner(
    embedder: Embedder | None = None, resolver: Resolver | None = None, *, all_on: bool = False
) -> BuiltinPlanner:
    """A planner over the shipped tools and the sample vault; `all_on` switches every category on."""
    registry = ToolRegistry(CATEGORIES, CATALOG)
    for category in CATEGORIES:
        registry.set_category(category.id, category.on or all_on)
    return BuiltinPlanner(registry, resolver or sample_resolver(), embedder)


def is_right(plan: object, request: Request) -> bool:
    """Whether the plan is the call that the request means: the tool and every argument."""
    if not isinstance(plan, CallTool) or plan.tool != request.tool:
        return False
    expected = dict(request.arguments)
    given = dict(plan.arguments)
    if isinstance(expected.get("query"), str) and isinstance(given.get("query"), str):
        # An article before what is searched for changes nothing.
        for side in (expected, given):
            side["query"] = str(side["query"]).removeprefix("the ")
    return given == expected
