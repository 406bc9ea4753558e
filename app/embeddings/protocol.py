"""The kinds of frames that the app and its embedding worker exchange.

| kind | sent by | body |
|---|---|---|
| `EMBED` | app | JSON list of texts of notes |
| `EMBED_QUERIES` | app | JSON list of queries, which some models encode differently |
| `CLASSIFY` | app | JSON list of premise-hypothesis pairs |
| `READY` | worker, once | JSON object: the `dimension` of its rows, and any `labels` of their columns |
| `VECTORS` | worker | float32 little-endian, one row per text or pair |
| `FAILED` | worker | the reason in UTF-8 |
"""

from __future__ import annotations

EMBED = b"E"
EMBED_QUERIES = b"Q"
CLASSIFY = b"J"
READY = b"R"
VECTORS = b"V"
FAILED = b"F"
