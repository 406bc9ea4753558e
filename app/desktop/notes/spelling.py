"""Spell checking with the system's dictionaries, through enchant; without them, nothing is marked.

Results are cached by word. Dictionaries load slowly, so they are loaded in a thread.
"""

from __future__ import annotations

import asyncio
import locale
import logging
import re
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QLabel, QWidget

from app import paths
from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.workspace import SettingsChanged

if TYPE_CHECKING:
    from enchant import Dict

log = logging.getLogger(__name__)

# Letters with apostrophes inside; parts of identifiers, numbers and addresses are not words.
_WORD = re.compile(r"(?<![\w@./\\&#])[^\W\d_]+(?:['’][^\W\d_]+)*(?![\w@\\]|[./:][\w/\\])")
_MAX_CACHED_WORDS = 100_000
_MAX_SUGGESTIONS = 7
_MAX_WORD_CHARS = 60


class SpellChecker:
    """Finds misspelled words in prose.

    A word is correct if any of the languages accepts it, the user added it, or it is very long.

    Attributes:
        languages: The languages with a loaded dictionary; empty if there is none.
    """

    def __init__(self) -> None:
        self.languages: tuple[str, ...] = ()
        self._dictionaries: tuple[Dict, ...] = ()
        self._cache: dict[str, bool] = {}
        self._user_words = _UserWords()
        self._lock = threading.Lock()

    def load(self, languages: Iterable[str]) -> None:
        """Replace the loaded dictionaries with those of `languages` (default: the system's language).

        Languages without a dictionary are skipped. Slow: call it in a thread.
        """
        names = tuple(languages) or _system_languages()
        loaded: list[tuple[str, Dict]] = []
        try:
            import enchant

            for name in names:
                tag = next((code for code in (name, name.partition("_")[0]) if enchant.dict_exists(code)), "")
                if tag:
                    loaded.append((tag, enchant.Dict(tag)))
        except ImportError as error:
            log.info("spell checking is not available: %s", error)
        with self._lock:
            self.languages = tuple(tag for tag, _ in loaded)
            self._dictionaries = tuple(dictionary for _, dictionary in loaded)
            self._cache = {}

    def unload(self) -> None:
        """Unload the dictionaries."""
        with self._lock:
            self.languages, self._dictionaries, self._cache = (), (), {}

    @property
    def is_ready(self) -> bool:
        """True if a dictionary is loaded."""
        return bool(self._dictionaries)

    def check(self, text: str) -> list[tuple[int, int]]:
        """Return the start and end of each misspelled word in `text`; empty without a dictionary."""
        if not self._dictionaries:
            return []
        return [match.span() for match in _WORD.finditer(text) if not self.is_correct(match[0])]

    def is_correct(self, word: str) -> bool:
        """Return whether a word is correct, as the class defines it."""
        correct = self._cache.get(word)
        if correct is None:
            correct = self._is_known(word.replace("’", "'"))
            if len(self._cache) >= _MAX_CACHED_WORDS:
                self._cache.clear()
            self._cache[word] = correct
        return correct

    def suggest(self, word: str) -> list[str]:
        """Return suggested corrections, best first."""
        suggestions: dict[str, None] = {}
        with self._lock:
            for dictionary in self._dictionaries:
                suggestions.update(dict.fromkeys(dictionary.suggest(word)[:_MAX_SUGGESTIONS]))
        return list(suggestions)[:_MAX_SUGGESTIONS]

    def learn(self, word: str) -> None:
        """Accept a word from now on and store it for all vaults; a failure to store it is only logged."""
        self._user_words.add(word)
        self._cache[word] = True

    def _is_known(self, word: str) -> bool:
        if len(word) > _MAX_WORD_CHARS or self._user_words.has(word):
            return True
        with self._lock:
            return any(dictionary.check(word) for dictionary in self._dictionaries)


class Spelling(QObject):
    """A window's spell checker; opening the first note loads the dictionaries chosen in the settings.

    `changed` is emitted when the set of accepted words changes, including when dictionaries are loaded.
    """

    changed = Signal()

    def __init__(self, client: VaultClient) -> None:
        super().__init__()
        self._client = client
        self._loaded: tuple[bool, tuple[str, ...]] | None = None
        self.checker = SpellChecker()
        client.events.batch.connect(self._receive)

    def load_dictionaries(self) -> None:
        """Start loading or unloading the dictionaries if the settings differ from what is loaded."""
        settings = self._client.settings.editor
        choice = (settings.spelling, tuple(settings.spelling_languages))
        if choice != self._loaded:
            self._loaded = choice
            tasks.start(self._load(*choice), owner=self, action=self.tr("load the dictionaries"))

    def learn(self, word: str) -> None:
        """Accept a word from now on, and emit `changed`."""
        self.checker.learn(word)
        self.changed.emit()

    async def _load(self, enabled: bool, languages: tuple[str, ...]) -> None:
        if enabled:
            await asyncio.to_thread(self.checker.load, languages)
        else:
            self.checker.unload()
        self.changed.emit()

    def _receive(self, events: tuple[object, ...]) -> None:
        if self._loaded is not None and any(isinstance(event, SettingsChanged) for event in events):
            self.load_dictionaries()


class DictionaryStatus(QLabel):
    """Shows the system's dictionaries in the settings; empty until they are found."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("tone", "muted")
        tasks.start(self._find_dictionaries(), owner=self, action=self.tr("look for dictionaries"))

    async def _find_dictionaries(self) -> None:
        languages = await asyncio.to_thread(installed_languages)
        text = self.tr("Dictionaries on this computer: {0}.").format(", ".join(languages))
        missing = self.tr("There are no dictionaries on this computer, so spelling is not checked. ")
        advice = self.tr("Install enchant and a hunspell dictionary for your language, then restart the app.")
        self.setText(text if languages else missing + advice)


def installed_languages() -> tuple[str, ...]:
    """Return the languages with an installed dictionary; empty without enchant."""
    try:
        import enchant

        return tuple(sorted(enchant.list_languages()))
    except ImportError:
        return ()


class _UserWords:
    """The words that the user added, one per line in a file in the app's data folder."""

    def __init__(self) -> None:
        self._file = paths.data_folder() / "dictionary.txt"
        try:
            self._words = set(self._file.read_text("utf-8").split("\n"))
        except FileNotFoundError:
            self._words = set()
        except (OSError, ValueError) as error:
            log.warning("%s could not be read: %s", self._file, error)
            self._words = set()

    def has(self, word: str) -> bool:
        return word in self._words or word.lower() in self._words

    def add(self, word: str) -> None:
        self._words.add(word)
        try:
            with self._file.open("a", encoding="utf-8") as stream:
                stream.write(f"{word}\n")
        except OSError as error:
            log.warning("the word could not be saved: %s", error)


def _system_languages() -> tuple[str, ...]:
    name = locale.getlocale()[0] or ""
    return (name,) if re.fullmatch(r"[a-z]{2,3}(?:_[A-Z]{2})?", name) else ("en_US",)
