"""Edits to a note's text; each returns the text with only the necessary characters changed.

Newlines and the byte order mark are preserved. A missing final newline stays missing unless the edit adds
one.
"""

from __future__ import annotations

from app.vault.markdown.body_edits import (
    append,
    insert_under,
    prepend,
    replace_body,
    replace_section,
    replace_text,
)
from app.vault.markdown.link_edits import rewrite_links
from app.vault.markdown.patch import apply_patch
from app.vault.markdown.properties import remove_property, set_property
from app.vault.markdown.relation_edits import add_relation, change_relation, remove_relation
from app.vault.markdown.tag_edits import add_tag, remove_tag, rename_tag

__all__ = [
    "add_relation",
    "add_tag",
    "append",
    "apply_patch",
    "change_relation",
    "insert_under",
    "prepend",
    "remove_property",
    "remove_relation",
    "remove_tag",
    "rename_tag",
    "replace_body",
    "replace_section",
    "replace_text",
    "rewrite_links",
    "set_property",
]
