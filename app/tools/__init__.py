"""The built-in tools. `CATALOG` lists all of them except `FILE_TOOL`."""

from app.toolkit.registry import AccessLevel, Category
from app.toolkit.tool import Tool
from app.tools.answering import find_passages
from app.tools.development import diff, file_write, patch
from app.tools.filesystem import directory_list, file_read, find, grep
from app.tools.git import git
from app.tools.headings import rename_heading
from app.tools.history import note_history, restore_note, undo
from app.tools.introspection import list_tools, pending
from app.tools.memory import block
from app.tools.memory_blocks import block_edit
from app.tools.mentions import link_mentions
from app.tools.merge_nodes import merge_nodes
from app.tools.messages import delegate, send_message
from app.tools.move_delete import delete_note, move_folder, move_note
from app.tools.node_analysis import (
    find_related_nodes,
    recalculate_node_confidence,
    summarize_node,
    summarize_node_with_context,
)
from app.tools.nodes import create_node, delete_node, get_node, reclassify_node, update_node
from app.tools.notes import (
    create_note,
    edit_note,
    get_metadata,
    list_notes,
    read_note,
    set_properties,
    update_note,
)
from app.tools.properties import rename_property
from app.tools.recall import context, recall
from app.tools.recall import search as search_everything
from app.tools.relationship_suggestions import suggest_relationships
from app.tools.relationships import (
    create_relationship,
    delete_relationship,
    recalculate_edge_confidence,
    reclassify_relationship,
    summarize_relationship,
)
from app.tools.search import (
    find_related,
    list_tags,
    search_by_properties,
    search_by_tags,
    search_notes,
    semantic_search,
    unlinked_mentions,
    vault_info,
)
from app.tools.shell import shell
from app.tools.source_files import file
from app.tools.sources import source
from app.tools.tags import add_tag, remove_tag, rename_tag
from app.tools.vault_health import find_duplicates, list_unresolved_links
from app.tools.web import fetch_page, search_web_for_evidence

CATEGORIES = (
    Category("notes", "Notes", AccessLevel.READ_WRITE),
    Category("search", "Search", AccessLevel.READ_ONLY, rate_per_minute=300),
    Category("tags", "Tags", AccessLevel.READ_WRITE),
    Category("memory", "Memory", AccessLevel.READ_WRITE),
    Category("memory_context", "Memory (legacy)", AccessLevel.READ_WRITE, on=False),
    Category("filesystem", "Files", AccessLevel.READ_ONLY),
    Category("development", "Development", AccessLevel.EXECUTE, on=False, rate_per_minute=30),
    Category("nodes", "Nodes", AccessLevel.READ_WRITE),
    Category("relationships", "Relationships", AccessLevel.READ_WRITE),
    Category("messages", "Messages", AccessLevel.READ_WRITE),
    Category("web", "Web", AccessLevel.NETWORK, on=False, rate_per_minute=30),
    Category("sources", "Sources", AccessLevel.READ_WRITE),
    Category("agents", "Agents", AccessLevel.READ_ONLY, rate_per_minute=300),
    # Has no tools: it switches requests from external agents in the panel on or off.
    Category("programs", "Requests by external agents", AccessLevel.EXECUTE, rate_per_minute=600),
)

CATALOG: tuple[Tool, ...] = (
    create_note,
    read_note,
    update_note,
    edit_note,
    set_properties,
    rename_property,
    rename_heading,
    move_note,
    move_folder,
    delete_note,
    list_notes,
    get_metadata,
    note_history,
    restore_note,
    undo,
    search_notes,
    semantic_search,
    find_passages,
    search_by_tags,
    search_by_properties,
    find_related,
    list_tags,
    vault_info,
    unlinked_mentions,
    link_mentions,
    list_unresolved_links,
    find_duplicates,
    add_tag,
    remove_tag,
    rename_tag,
    block,
    block_edit,
    recall,
    search_everything,
    context,
    find,
    file_read,
    directory_list,
    grep,
    shell,
    patch,
    file_write,
    diff,
    git,
    create_node,
    get_node,
    update_node,
    delete_node,
    find_related_nodes,
    summarize_node,
    summarize_node_with_context,
    recalculate_node_confidence,
    reclassify_node,
    merge_nodes,
    create_relationship,
    delete_relationship,
    recalculate_edge_confidence,
    reclassify_relationship,
    summarize_relationship,
    suggest_relationships,
    send_message,
    delegate,
    fetch_page,
    search_web_for_evidence,
    source,
    list_tools,
    pending,
)

FILE_TOOL = file
"""The tool that is registered only while a source folder is open."""
