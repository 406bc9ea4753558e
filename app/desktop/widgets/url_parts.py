"""The parts of an address in a rendered text; uses no widget, so that worker threads may import it."""

from __future__ import annotations

from PySide6.QtCore import QUrl


def split_address(url: QUrl) -> tuple[str, str, str]:
    """Return the decoded scheme, path and fragment of an address.

    Each part is decoded separately: a name may contain `#`, `?` or `%`, and Qt does not decode whole
    addresses.
    """
    decoded = QUrl.ComponentFormattingOption.FullyDecoded
    return url.scheme(), url.path(decoded), url.fragment(decoded)
