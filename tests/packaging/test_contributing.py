"""Resources of contributors: hooks, changelog fragments, and documents that name existing files."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FRAGMENTS = ROOT / "packaging" / "changelog"
DOCUMENTS = (
    ROOT / "app" / "README.md",
    ROOT / "README.md",
    ROOT / ".github" / "CONTRIBUTING.md",
    *sorted((ROOT / "app" / "decisions").glob("*.md")),
)


def fragments() -> list[Path]:
    return sorted(path for path in FRAGMENTS.glob("*.md") if path.name != "README.md")


def test_hooks_use_the_versions_that_the_checks_use():
    pinned = set((ROOT / "packaging" / "constraints.txt").read_text("utf-8").split())
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    needed = {each for hook in hooks for each in hook.get("additional_dependencies", ())}
    # Only the hook runs typos.
    assert {each for each in needed if not each.startswith("typos==")} <= pinned
    assert {hook["id"] for hook in hooks} == {"ruff-check", "ruff-format", "typos", "mypy"}


def test_the_changelog_builds_from_its_fragments():
    built = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "1.2.3", "--date", "2026-01-01"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout
    assert "## 1.2.3 (2026-01-01)" in built
    for path in fragments():
        assert path.read_text("utf-8").strip() in built, path.name


def test_each_fragment_is_of_a_type_that_the_changelog_has():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    types = {each["directory"] for each in project["tool"]["towncrier"]["type"]}
    assert fragments()
    for path in fragments():
        assert re.fullmatch(rf"(\d+|\+[\w-]+)\.({'|'.join(types)})\.md", path.name), path.name


def test_templates_for_issues_are_forms_that_name_their_fields():
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    forms = [
        yaml.safe_load(path.read_text("utf-8")) for path in folder.glob("*.yml") if path.stem != "config"
    ]
    assert len(forms) == 2
    for form in forms:
        assert form["name"] and form["description"]
        ids = [each["id"] for each in form["body"] if each["type"] != "markdown"]
        assert len(ids) == len(set(ids)) > 2


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_name_files_that_exist(document):
    text = re.sub(r"```.*?```", "", document.read_text("utf-8"), flags=re.DOTALL)
    missing = [
        name for line in text.splitlines() for name in named_paths(line) if not any(map(Path.exists, name[1]))
    ]
    assert [name for name, _ in missing] == []
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    assert [link for link in links if not (document.parent / link).exists()] == []


def named_paths(line: str) -> list[tuple[str, list[Path]]]:
    """Return the paths in backticks of a line, each with its possible locations.

    A name without a folder belongs to the folder of the path before it in the line.
    """
    found = []
    folder = Path()
    for name in re.findall(r"`([\w./-]+(?:\.(?:py|toml|md|yml|yaml|txt|spec)|/))`", line):
        places = [ROOT / "app" / name, ROOT / name]
        if "/" in name.rstrip("/"):
            folder = Path(name).parent
        else:
            places += [ROOT / "app" / folder / name, ROOT / folder / name]
        found.append((name, places))
    return found
