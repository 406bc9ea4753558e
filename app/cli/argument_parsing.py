"""Convert command-line words to the values that a tool's schema requires."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.errors import InvalidParametersError
from app.toolkit.argument_types import ArgumentKind

STDIN = "-"
_VERBATIM_KINDS = frozenset(ArgumentKind) - {
    ArgumentKind.MARKDOWN,
    ArgumentKind.PLAIN,
    ArgumentKind.PROPERTIES,
}
_TRUE_WORDS, _FALSE_WORDS = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class TextArguments:
    """Reads long texts from standard input (`-`, only once) or from a file (`@file`)."""

    def __init__(self) -> None:
        self._stdin_was_read = False

    def text(self, word: str) -> str:
        """Return the text for `word`; text that begins with an @ is written with @@.

        Raises:
            InvalidParametersError: The text can't be read, or standard input was requested twice.
        """
        if word == STDIN:
            return self._read_stdin()
        if "\n" in word:
            return word  # File names here have no newline, so this is text, for example a patch.
        if word.startswith("@@"):
            return word[1:]
        if word.startswith("@"):
            return _read_file(word[1:])
        return word

    def _read_stdin(self) -> str:
        if self._stdin_was_read:
            raise InvalidParametersError("Only one argument can be - (standard input).")
        self._stdin_was_read = True
        return _decode_utf8(sys.stdin.buffer.read(), "standard input")


def _read_file(name: str) -> str:
    try:
        return _decode_utf8(Path(name).read_bytes(), name)
    except OSError as error:
        raise InvalidParametersError(
            f"@{name}: {error.strerror or error}. For text that begins with @, write @@{name}."
        ) from error


def _decode_utf8(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidParametersError(f"{name} is not UTF-8 text (byte {error.start + 1}).") from error


def parse_value(schema: Mapping[str, Any], kind: ArgumentKind, word: str, texts: TextArguments) -> object:
    """Return the value of `word` for an argument.

    Args:
        schema: The schema of the argument, or of an item of a list.
        kind: The kind of the argument; names are taken verbatim; `texts` reads the others.
        word: The word as given.
        texts: Reads standard input and files.

    Raises:
        InvalidParametersError: The value is invalid or can't be read; the message says what is valid.
    """
    match schema.get("type"):
        case "string":
            return _check_choice(
                schema, word if kind in _VERBATIM_KINDS or "enum" in schema else texts.text(word)
            )
        case "integer":
            return _parse_number(word, int, "a whole number")
        case "number":
            return _parse_number(word, float, "a number")
        case "boolean":
            return parse_boolean(word)
        case "object":
            return parse_object([word], texts)
        case _:
            return _json_or_text(texts.text(word))


def parse_object(words: list[str], texts: TextArguments) -> dict[str, object]:
    """Return an object from `name=value` words and JSON objects; later entries replace earlier ones.

    A value that is valid JSON (a number, true, null, a list) is parsed; any other value is text.

    Raises:
        InvalidParametersError: A word is neither, or its text can't be read.
    """
    result: dict[str, object] = {}
    for word in words:
        text = texts.text(word)
        name, is_pair, value = text.partition("=")
        if text.lstrip().startswith("{"):
            result |= _parse_json_object(text)
        elif is_pair and name:
            result[name] = _json_or_text(value)
        else:
            raise InvalidParametersError(f"{word!r} is neither name=value nor a JSON object.")
    return result


def parse_boolean(word: str) -> bool:
    """Parse a boolean: yes, true, on or 1; no, false, off or 0.

    Raises:
        InvalidParametersError: The word is none of these.
    """
    if word.lower() in (*_TRUE_WORDS, *_FALSE_WORDS):
        return word.lower() in _TRUE_WORDS
    raise InvalidParametersError(f"{word!r} is neither yes nor no.")


def _parse_json_object(text: str) -> dict[str, object]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise InvalidParametersError(f"This is not a JSON object: {error}") from error
    if not isinstance(data, dict):
        raise InvalidParametersError("This is not a JSON object.")
    return data


def _json_or_text(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _check_choice(schema: Mapping[str, Any], text: str) -> str:
    allowed = schema.get("enum")
    if allowed and text not in allowed:
        raise InvalidParametersError(
            f"{text!r} is not one of {', '.join(map(str, allowed))}.", allowed=allowed
        )
    return text


def _parse_number(word: str, number_type: type[int] | type[float], description: str) -> int | float:
    try:
        return number_type(word)
    except ValueError as error:
        raise InvalidParametersError(f"{word!r} is not {description}.") from error
