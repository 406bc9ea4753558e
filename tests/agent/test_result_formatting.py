"""Results of tools are formatted as they are."""

from __future__ import annotations

from datetime import datetime

from app.agent.answered_call import AnsweredCall
from app.agent.language.words.answers import localize
from app.agent.language.words.lexicon import languages
from app.agent.result_formatting import format_outcome
from app.toolkit.outcome import ToolOutcome


def formatted(tool, result, intent="", **arguments):
    return format_outcome(AnsweredCall(tool, arguments, intent), ToolOutcome(True, result))


def test_an_undo_says_what_became_of_each_file() -> None:
    result = {
        "commits": [3],
        "paths": ["New.md", "Moved.md", "Old.md", "A.md", "picture.png"],
        "removed": ["New.md"],
        "moved_back": ["Old.md"],
        "restored": ["A.md", "picture.png"],
        "left": 0,
    }
    text = formatted("undo", result)
    assert text == (
        "1 created note was removed:\n\n- New.md\n\n"
        "1 note was moved back:\n\n- [[Old]]\n\n"
        "2 files were restored:\n\n- [[A]]\n- picture.png"
    )
    german = next(language for language in languages() if language.code == "de")
    assert "1 erstellte Notiz wurde entfernt:\n\n- New.md\n\n1 Notiz ist wieder" in localize(text, german)


def test_an_undo_that_changes_nothing_gives_the_reason_alone() -> None:
    result = {"commits": [4], "paths": [], "removed": [], "moved_back": [], "restored": [], "left": 1}
    reason = "Nothing to undo: Tea.md no longer exists. Nothing was changed."
    outcome = ToolOutcome(True, result, message=reason)
    assert format_outcome(AnsweredCall("undo", {}), outcome) == reason


def test_a_note_with_only_properties_is_not_called_empty() -> None:
    def read(text):
        return formatted("read_note", {"path": "Books/Tea.md", "text": text, "total_lines": 4})

    link = "[[Books/Tea|Tea]]"
    assert read("---\nyear: 1906\ntags: [a, b]\n---\n\n") == (
        f"{link} has properties but no text:\n\n- **year**: 1906\n- **tags**: a, b"
    )
    assert read("---\nread: true\n---\n").endswith("- **read**: true")
    template = read("---\ngenre:\nseen: {{date}}\nlist: [1, {{time}}]\n---\n")
    assert template.endswith("- **genre**: \n- **seen**: {{date}}\n- **list**: 1, {{time}}")
    assert read("\n") == read("---\n---\n") == f"{link} is empty."


def test_a_creation_date_is_shown_without_a_time() -> None:
    def created(moment):
        result = {"path": "Tea.md", "created": moment.timestamp()}
        return formatted("get_metadata", result, "fact", about="created")

    assert created(datetime(2023, 9, 12)) == "[[Tea]] was created on 2023-09-12."
    assert created(datetime(2023, 9, 12, 8, 5)) == "[[Tea]] was created on 2023-09-12 08:05."


def test_a_call_that_took_too_long_is_described_without_the_name_of_its_tool() -> None:
    error = {"type": "timeout", "message": "find_passages timed out after 60 s.", "tool": "find_passages"}
    outcome = ToolOutcome(False, error=error)
    text = format_outcome(AnsweredCall("find_passages", {}), outcome)
    assert text == "This took too long and was stopped. Nothing was changed. Try again in a moment."
    german = next(language for language in languages() if language.code == "de")
    assert localize(text, german) == (
        "Das hat zu lange gedauert und wurde abgebrochen. Es wurde nichts geändert. "
        "Versuch es gleich noch einmal."
    )
    later = format_outcome(AnsweredCall("find_passages", {}), outcome, has_changed=True)
    assert later == (
        "This took too long and was stopped. The changes before it were kept. Try again in a moment."
    )
    assert localize(later, german) == (
        "Das hat zu lange gedauert und wurde abgebrochen. Die Änderungen davor bleiben. "
        "Versuch es gleich noch einmal."
    )


def test_a_call_that_may_have_acted_outside_is_not_said_to_have_changed_nothing() -> None:
    error = {"type": "timeout", "message": "delegate timed out after 60 s.", "tool": "delegate"}
    outcome = ToolOutcome(False, error=error)
    german = next(language for language in languages() if language.code == "de")
    for has_changed in (False, True):
        text = format_outcome(AnsweredCall("delegate", {}), outcome, has_changed=has_changed)
        assert "Nothing was changed" not in text and "Check what was done" in text
        assert localize(text, german) != text


def test_the_message_of_any_other_timeout_is_shown() -> None:
    message = "Discord did not answer in time. Check the channel before you send the message again."
    outcome = ToolOutcome(False, error={"type": "timeout", "message": message, "limit": 20})
    assert format_outcome(AnsweredCall("send_message", {}), outcome) == message


def test_the_files_and_folders_of_the_vault_are_listed_by_name() -> None:
    entries = [
        {"path": "About.md", "kind": "file", "size": 1959, "modified": 1795917171.57},
        {"path": "Atlas", "kind": "folder", "size": 4096, "modified": 1795917171.61},
        {"path": "map.png", "kind": "file", "size": 70, "modified": 1795917171.61},
    ]
    outcome = ToolOutcome(True, {"entries": entries, "complete": True, "left_out": []})
    text = format_outcome(AnsweredCall("directory_list", {}), outcome)
    assert text == "3 files and folders:\n\n- Atlas/\n- [[About]]\n- map.png"
    german = next(language for language in languages() if language.code == "de")
    assert localize(text, german).startswith("3 Dateien und Ordner:")


def test_uncertain_passages_are_shown_without_a_flat_denial() -> None:
    passage = {
        "path": "Sync.md",
        "text": "Not with Dropbox.",
        "source": "Not with Dropbox.",
        "citation": "[[Sync#^a]]",
        "weak": False,
    }
    result = {"passages": [passage], "answered": False}
    text = formatted("find_passages", result)
    assert text.startswith("**Perhaps not in your notes**") and "> Not with Dropbox." in text
    german = next(language for language in languages() if language.code == "de")
    assert localize(text, german).startswith("**Vielleicht nicht in deinen Notizen**")
    assert formatted("find_passages", {**result, "passages": []}).startswith("**Not in your notes**")
