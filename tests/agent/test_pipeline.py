"""A pipeline stops at a failed step, whatever the step would have done with its notes."""

from __future__ import annotations

from app.agent.language.actions import ACTIONS
from app.agent.language.dialog import DialogState, OwnChange
from app.agent.language.lexicon import languages
from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.vocabulary import VaultWords
from app.agent.pipeline import Pipeline
from app.index.records import PropertyValueShares
from app.toolkit.outcome import ToolOutcome
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES


class FailingHost:
    """A host in which every call fails."""

    def __init__(self):
        self.calls: list[str] = []

    async def call(self, tool, arguments, claim="", *, summarize=None):
        self.calls.append(tool)
        return ToolOutcome(False, error={"type": "storage", "message": "The disk failed."})

    def say(self, text):
        pass

    def open_note(self, path):
        pass


async def test_nothing_is_undone_if_the_search_for_its_notes_fails():
    host = FailingHost()
    dialog = DialogState(changes=(OwnChange(7, "add_tag", ("Other.md",)),))
    registry = ToolRegistry(CATEGORIES, CATALOG)
    pipeline = Pipeline(host, registry, languages()[0], dialog, tuple, ACTIONS)
    await pipeline.run(Reading((PipelineStep("undo", NoteSet(query="tag:#clock")),), 1.0))
    assert host.calls == ["search_notes"]


class SearchHost(FailingHost):
    """A host in which each search finds all of `paths`, one page per call."""

    def __init__(self, paths):
        super().__init__()
        self.paths = paths

    async def call(self, tool, arguments, claim="", *, summarize=None):
        self.calls.append(tool)
        start = arguments.get("offset", 0)
        page = self.paths[start : start + arguments["limit"]]
        return ToolOutcome(True, {"hits": [{"path": path} for path in page], "total": len(self.paths)})


async def test_given_notes_are_narrowed_by_all_hits_of_a_search():
    host = SearchHost([f"{number}.md" for number in range(2500)])
    registry = ToolRegistry(CATEGORIES, CATALOG)
    pipeline = Pipeline(host, registry, languages()[0], DialogState(), tuple, ACTIONS)
    target = NoteSet(query="tea", notes=("1700.md", "Other.md", "2.md"))
    dialog = await pipeline.run(Reading((PipelineStep("find", target),), 1.0))
    assert dialog.results == ("1700.md", "2.md") and len(host.calls) == 3


async def test_the_words_true_and_false_set_a_property_to_a_boolean():
    class Recorder(FailingHost):
        async def call(self, tool, arguments, claim="", *, summarize=None):
            self.calls.append(dict(arguments))
            return ToolOutcome(True, {"path": "A.md"})

    for text, value in (("true", True), ("False", False), ("truth", "truth")):
        host = Recorder()
        registry = ToolRegistry(CATEGORIES, CATALOG)
        pipeline = Pipeline(host, registry, languages()[0], DialogState(), tuple, ACTIONS)
        step = PipelineStep("set_property", NoteSet(notes=("A.md",)), {"key": "read", "value": text})
        await pipeline.run(Reading((step,), 1.0))
        written = host.calls[-1]["properties"]["read"]
        assert written == value and type(written) is type(value)


async def test_a_property_without_checkboxes_keeps_the_word_true():
    class Recorder(FailingHost):
        async def call(self, tool, arguments, claim="", *, summarize=None):
            self.calls.append(dict(arguments))
            return ToolOutcome(True, {"path": "A.md"})

    shares = (PropertyValueShares("title"), PropertyValueShares("Read", checkboxes=0.5))
    words = VaultWords(value_shares=shares)
    for key, value in (("title", "True"), ("read", True)):
        host = Recorder()
        registry = ToolRegistry(CATEGORIES, CATALOG)
        state = DialogState()
        pipeline = Pipeline(host, registry, languages()[0], state, tuple, ACTIONS, lambda: words)
        step = PipelineStep("set_property", NoteSet(notes=("A.md",)), {"key": key, "value": "True"})
        await pipeline.run(Reading((step,), 1.0))
        assert host.calls[-1]["properties"] == {key: value}
