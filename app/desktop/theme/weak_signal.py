"""A signal with weak references, whose listeners the caller can run one by one when there is time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar
from weakref import WeakMethod

from PySide6.QtWidgets import QWidget
from shiboken6 import Shiboken

T = TypeVar("T")
_PRUNE_STEP = 256


class WeakSignal(Generic[T]):
    """A signal with weak references to the objects whose methods are its listeners, like a Qt signal.

    A listener is a method that takes the value or no argument, or a function that takes the value. References
    to functions are strong.
    """

    def __init__(self) -> None:
        self._references: list[Callable[[], Callable[..., object] | None]] = []
        self._prune_at = _PRUNE_STEP

    def connect(self, listener: Callable[..., object]) -> None:
        """Add a listener for all future values."""
        if len(self._references) >= self._prune_at:
            self._references = [
                reference for reference in self._references if _if_alive(reference()) is not None
            ]
            self._prune_at = 2 * len(self._references) + _PRUNE_STEP
        is_method = hasattr(listener, "__func__")
        self._references.append(WeakMethod(listener) if is_method else lambda: listener)

    def calls(self, value: T) -> Iterator[tuple[QWidget | None, Callable[[], object]]]:
        """Yield, for each live listener, its widget (or None) and a function that passes it `value`."""
        for reference in self._references:
            listener = _if_alive(reference())
            if listener is not None:
                owner: Any = getattr(listener, "__self__", None)
                yield (owner if isinstance(owner, QWidget) else None), _Notification(reference, value)


class _Notification(Generic[T]):
    """Calls one listener with the value, if the listener still exists."""

    def __init__(self, reference: Callable[[], Callable[..., object] | None], value: T) -> None:
        self._reference = reference
        self._value = value

    def __call__(self) -> None:
        if (listener := _if_alive(self._reference())) is not None:
            code = getattr(listener, "__code__", None)
            if code is not None and hasattr(listener, "__func__") and code.co_argcount == 1:
                listener()
            else:
                listener(self._value)


def _if_alive(listener: Callable[..., object] | None) -> Callable[..., object] | None:
    """Return the listener, or None if it or its QObject has been deleted."""
    owner = getattr(listener, "__self__", None)
    return None if owner is not None and not Shiboken.isValid(owner) else listener
