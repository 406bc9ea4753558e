"""The view of a note in a tab: live preview, source and reading view, properties, links.

The note itself is `document.NoteDocument`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

import shiboken6
from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QFontInfo, QKeySequence, QShortcut, QShowEvent, QTextCursor
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.notes import loader, unsaved_changes
from app.desktop.notes.autosave import Autosave
from app.desktop.notes.banner import NoteBanner
from app.desktop.notes.completions import complete
from app.desktop.notes.document import NoteDocument
from app.desktop.notes.editor.completion import CompletionRequest
from app.desktop.notes.editor.drawings import DrawingRequest
from app.desktop.notes.editor.live_editor import LiveEditor
from app.desktop.notes.editor.mode import EditorMode, ViewMode
from app.desktop.notes.editor_setup import EditorSetup
from app.desktop.notes.find_bar import FindBar, connect_find_keys
from app.desktop.notes.header import NoteHeader
from app.desktop.notes.lazy_links_pane import LazyLinksPane
from app.desktop.notes.link_navigation import LinkNavigation
from app.desktop.notes.links_pane import LinksPane
from app.desktop.notes.newlines import for_editor
from app.desktop.notes.preview import Preview
from app.desktop.notes.properties_form import PropertiesForm
from app.desktop.notes.span_positions import find_on_page
from app.desktop.notes.spelling import Spelling
from app.desktop.notes.view_modes import ViewModes
from app.desktop.runtime import tasks
from app.desktop.shell.keymap import Keymap
from app.desktop.theme.colors import Theme
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import EmptyState
from app.desktop.widgets.reading_view import ReadingView
from app.desktop.widgets.utf16 import utf16_length
from app.desktop.widgets.web_address import open_address
from app.errors import NotFoundError, ScriptoriumError
from app.index.records import IndexUpdated
from app.vault.markdown.properties import remove_property, set_property
from app.vault.markdown.render_values import Interaction, RenderColors
from app.vault.markdown.scan import scan
from app.vault.note import ParsedNote, Span
from app.vault.path import NotePath
from app.vault.reference import parse_reference
from app.vault.span_reference import find_fragment, is_span
from app.workspace import SettingsChanged
from app.workspace.service.note_data import NoteData

if TYPE_CHECKING:
    from app.workspace import VaultService

_RENDER_DELAY_MS = 200
# A fragment with this prefix opens the note for writing, at the offset after it or at the end of the note.
EDIT_ACTION_PREFIX = "write="


class NoteView(QWidget):
    """The view of one note at a time; rarely used parts (links, preview, find bar) are created on first use.

    Signals:
        open_requested: The path or name of a note, and a fragment.
        search_requested: A query.
        title_changed: The name of the note.
        dirty_changed: Whether the note is marked as unsaved.
        action_requested: A command (the argument of one of `header.MENU_COMMANDS`) and the note's path.
        create_requested: The name of a note to create.
    """

    open_requested = Signal(str, str)
    search_requested = Signal(str)
    title_changed = Signal(str)
    dirty_changed = Signal(bool)
    action_requested = Signal(str, str)
    create_requested = Signal(str)

    def __init__(
        self,
        client: VaultClient,
        theme: ThemeSource,
        parent: QWidget | None = None,
        spelling: Spelling | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.path = ""
        self._client = client
        self._theme = theme
        self._is_replacing_text = False
        self._has_stale_theme = False
        self._mode = ViewMode.LIVE
        self._toggled_callouts: set[str] = set()
        self._reading_anchor = ""
        self._cited_fragment = ""
        self._keymap = Keymap(client.settings.shortcuts)
        self._modes = ViewModes(client.root)
        # A double click opens a note twice: the second load must not overwrite text typed after the first.
        self._opening_lock = asyncio.Lock()
        self._preview: Preview | None = None
        self._find_bar: FindBar | None = None
        self._empty_state: EmptyState | None = None
        self._link_navigation = LinkNavigation(client, lambda: self.path, self)
        body = self._build()
        self.document = NoteDocument(client, self.editor.document(), self)
        self._autosave = Autosave(client, self.document, self.editor)
        self._editor_setup = EditorSetup(client, self.editor, self.document, spelling)
        self._links = LazyLinksPane(client, theme, self.document, body)
        self._render_timer = QTimer(self)
        self._render_timer.setSingleShot(True)
        self._render_timer.setInterval(_RENDER_DELAY_MS)
        self._render_timer.timeout.connect(self._render_reading)
        self._connect()
        client.events.batch.connect(self._receive)
        theme.changed.connect(self._apply_theme)

    @property
    def address(self) -> str:
        """The path of the note; see `tabs.NotesAreaTab`."""
        return self.path

    def _build(self) -> QSplitter:
        self._header = NoteHeader(self._theme, self._keymap, self)
        self.notice = NoteBanner(self._theme, self)
        self.properties = PropertiesForm(self._theme, self)
        # Built from the outside in: adding a widget with children to a parent restyles all of them.
        body = QSplitter(Qt.Orientation.Vertical, self)
        body.setHandleWidth(1)
        self._stack = QStackedWidget(body)
        self.reader = ReadingView(self._theme, self._stack)
        self.editor = LiveEditor(self._theme, self._stack)
        self._stack.addWidget(self.editor)
        self._stack.addWidget(self.reader)
        body.addWidget(self._stack)
        self.editor.set_header(self.properties)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self._header, self.notice):
            column.addWidget(widget)
        column.addWidget(body, 1)
        self._column = column
        return body

    def _connect(self) -> None:
        document = self.document
        document.loaded.connect(self._show)
        document.saved.connect(self._show_saved)
        document.text_changed.connect(self._apply_text)
        document.unsaved_changed.connect(self._show_unsaved)
        document.renamed.connect(self._show_renamed)
        document.comparison_requested.connect(self.compare)
        document.notice_requested.connect(self.notice.show_message)
        document.question_requested.connect(self.notice.show_question)
        self._editor_setup.failed.connect(lambda message: self.notice.show_message(message, "warning"))
        document.notice_cleared.connect(self.notice.clear)
        self.notice.focus_released.connect(self.take_focus)
        self._header.mode_toggled.connect(self.toggle_mode)
        self._header.links_toggled.connect(self.toggle_links)
        self._header.save_requested.connect(self.save)
        self._header.action_requested.connect(lambda command: self.action_requested.emit(command, self.path))
        self.properties.changed.connect(self._set_property)
        self.properties.removed.connect(self._remove_property)
        self.properties.tag_clicked.connect(lambda tag: self._link_navigation.follow("tag", tag))
        self.properties.link_clicked.connect(lambda name: self._link_navigation.follow("note", name))
        self.properties.source_requested.connect(lambda: self.show_mode(ViewMode.SOURCE))
        self._connect_reading()
        self.editor.edited.connect(lambda: None if self._is_replacing_text else document.mark_edited())
        self.editor.completion_requested.connect(
            lambda request: self._start(self._complete(request), self.tr("list the completions"))
        )
        self.editor.links_requested.connect(
            lambda targets: self._start(self._resolve(targets), self.tr("resolve the links"))
        )
        self.editor.drawing_requested.connect(
            lambda request: self._start(self._draw(request), self.tr("render part of the note"))
        )
        self.editor.link_followed.connect(self._link_navigation.follow)
        self.editor.link_hovered.connect(self._hover_link)
        self.editor.style_changed.connect(self._apply_reading_style)
        self._apply_reading_style()
        connect_find_keys(self, lambda: self.find_bar)

    def _connect_reading(self) -> None:
        self.reader.note_clicked.connect(self.open_requested)
        self.reader.unresolved_clicked.connect(self.create_requested)
        self.reader.tag_clicked.connect(lambda tag: self.search_requested.emit(f"tag:{tag}"))
        self.reader.web_clicked.connect(lambda address: open_address(self, address))
        self.reader.hovered.connect(self._hover_note)
        self.reader.task_clicked.connect(self._toggle_task)
        self.reader.fold_clicked.connect(self._toggle_callout)
        standard = QKeySequence.StandardKey
        self._add_shortcut(self.reader, standard.Undo, lambda: self._edit_in_reading(self.editor.undo))
        self._add_shortcut(self.reader, standard.Redo, lambda: self._edit_in_reading(self.editor.redo))
        for part in (self._links, self._link_navigation):
            part.open_requested.connect(self.open_requested)
            part.create_requested.connect(self.create_requested)
        self._link_navigation.search_requested.connect(self.search_requested)
        self._link_navigation.fragment_requested.connect(self._go_to)
        self._links.notice_requested.connect(self.notice.show_message)

    def run_command(self, command: str) -> None:
        """Run a menu command: "save", "mode" (the next one), "find", "replace" or "links"."""
        commands: dict[str, Callable[[], None]] = {
            "save": self.save,
            "mode": self.toggle_mode,
            "find": self.find_text,
            "replace": self.replace_text,
            "links": self.toggle_links,
        }
        commands[command]()

    def _add_shortcut(
        self, widget: QWidget, keys: QKeySequence.StandardKey, callback: Callable[[], object]
    ) -> None:
        shortcut = QShortcut(keys, widget)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(callback)

    async def open(self, path: str, fragment: str = "") -> None:
        """Show the note at `path` (or with that name), at a fragment.

        Args:
            path: The note.
            fragment: A heading, `^block`, `span=…`, `line=12`, or `write=` with an optional offset.

        Raises:
            NotFoundError: The note does not exist; the current note stays open.
            StorageError: The note can't be read; the current note stays open.
        """
        resolved = await self._client.run(lambda vault: vault.notes.find(path))
        if resolved is None:
            raise NotFoundError(self.tr("There is no note named {0}.").format(path), name=path)
        async with self._opening_lock:
            if resolved.text != self.path or self.document.page is None:
                await self.document.open(resolved)
                if self._mode is ViewMode.READING:
                    await self._render()
        # The user may have closed the tab in the meantime.
        if shiboken6.isValid(self):
            self._go_to(fragment)

    def _show(self, page: NoteData) -> None:
        """Show a newly loaded version of the note."""
        is_other_note = str(page.path) != self.path
        self.path = str(page.path)
        self.editor.drawing_scope = f"{self._client.root}\n{self.path}"
        self._load_text(page.text, is_other_note=is_other_note)
        editable = self.document.is_editable
        self.editor.setReadOnly(not editable)
        self._header.show_path(page.path)
        self._header.show_privacy(page.privacy)
        self._show_properties(page.parsed, editable)
        if is_other_note:
            self._toggled_callouts = set()
            self.show_mode(self._modes.get(self.path, self._editor_setup.default_mode), remember=False)
        self._header.show_mode(self._mode, editable)
        if is_other_note:
            self._links.forget()
            self.title_changed.emit(page.path.name)
        self._render_timer.start()
        self._links.refresh()

    def _show_saved(self, page: NoteData) -> None:
        self._header.show_privacy(page.privacy)
        self._show_properties(page.parsed, True)
        self._render_timer.start()

    def _show_properties(self, parsed: ParsedNote, editable: bool) -> None:
        """Show the properties as a form, or as source if the form can't show them."""
        self.properties.show_properties(parsed, editable)
        self.editor.show_properties_source(self.properties.has_problem)

    def _show_unsaved(self, unsaved: bool) -> None:
        self._header.show_state(self.tr("Unsaved") if unsaved else "", dirty=unsaved)
        self.dirty_changed.emit(unsaved)

    def _show_renamed(self, page: NoteData) -> None:
        self.path = str(page.path)
        self._header.show_path(page.path)
        self.title_changed.emit(page.path.name)

    def _apply_text(self, text: str) -> None:
        self._set_editor_text(text)
        self._render_timer.start()

    def _load_text(self, text: str, *, is_other_note: bool) -> None:
        """Load a note into the editor, or another version of the shown note."""
        self._is_replacing_text = True
        (self.editor.load if is_other_note else self.editor.reload)(for_editor(text))
        self._is_replacing_text = False

    def _set_editor_text(self, text: str) -> None:
        """Replace the editor's text with `text`, as one undo step."""
        self._is_replacing_text = True
        self.editor.replace_document(for_editor(text))
        self._is_replacing_text = False

    def _go_to(self, fragment: str) -> None:
        if fragment.startswith(EDIT_ACTION_PREFIX):
            self._start_writing(fragment.removeprefix(EDIT_ACTION_PREFIX))
            return
        headings = self.document.page.parsed.headings if self.document.page else ()
        self._cited_fragment = ""
        self._mark(None)
        if is_span(fragment) or fragment.startswith("^"):
            self._show_cited(fragment)
        elif fragment.startswith("line=") and fragment[5:].isdigit():
            line = int(fragment[5:])
            self.editor.go_to_line(line)
            headings_above = [heading.text for heading in headings if heading.line <= line]
            self.reader.go_to(headings_above[-1] if headings_above else "")
        elif fragment:
            self.reader.go_to(fragment)
            matches = (h for h in headings if h.text.casefold() == fragment.casefold())
            if (heading := next(matches, None)) is not None:
                self.editor.go_to_line(heading.line)

    def _show_cited(self, fragment: str) -> None:
        """Mark the passage that a link cites, and scroll to it; report if a cited span no longer exists."""
        page = self.document.page
        span = find_fragment(self.document.text, page.parsed, fragment) if page else None
        if span is None:
            if is_span(fragment):
                self.notice.show_message(self.tr("The passage has changed since it was cited."), "warning")
            self.reader.go_to(fragment)
            return
        self._cited_fragment = fragment
        self._mark(span)

    def _mark(self, span: Span | None) -> None:
        """Mark a span of the note in the current view; None removes the mark."""
        if span is None:
            self.reader.mark(None)
            self.editor.mark(None)
            return
        text = self.document.text
        if self._mode is ViewMode.READING:
            self.reader.mark(find_on_page(text, span.start, span.end, self.reader.toPlainText()))
        else:
            start = utf16_length(for_editor(text[: span.start]))
            self.editor.mark((start, utf16_length(for_editor(text[: span.end]))))

    def _render_reading(self) -> None:
        if self._mode is ViewMode.READING:
            self._start(self._render(), self.tr("show the note"))

    async def _render(self) -> None:
        """Update the reading view, if it is shown."""
        page, colors = self.document.page, RenderColors.of(self._theme.theme)
        if page is None or self._mode is not ViewMode.READING:
            return
        text = self.document.text
        points = QFontInfo(self.reader.font()).pointSizeF()
        interaction = Interaction(frozenset(self._toggled_callouts))
        rendered = await self._client.run(
            lambda vault: loader.render_note(
                vault, page.path, text, colors, points=points, interaction=interaction
            )
        )
        if self.path == str(page.path):
            self.reader.show_rendered(rendered, str(page.path))
            if self._cited_fragment:
                self._show_cited(self._cited_fragment)
            elif self._reading_anchor:
                self.reader.go_to(self._reading_anchor)
                self._reading_anchor = ""
            if self._mode is ViewMode.READING:
                self._show_reading()

    @property
    def mode(self) -> ViewMode:
        """The current mode: live preview, source or reading."""
        return self._mode

    @property
    def is_editing(self) -> bool:
        """True in live preview and source mode."""
        return self._mode is not ViewMode.READING

    @property
    def _reading_widget(self) -> QWidget:
        """The widget of the reading view: the text, or the empty state of a blank note."""
        return self.empty_state if self.document.is_blank else self.reader

    def _show_reading(self) -> None:
        """Show the reading view with the properties above its text, or above the empty state."""
        widget = self._reading_widget
        if widget is self.reader:
            self.reader.set_header(self.properties)
        else:
            self._column.insertWidget(self._column.indexOf(self.notice) + 1, self.properties)
            self.properties.show()
            self._describe_empty_state(self.empty_state)
        self._stack.setCurrentWidget(widget)

    def _start_writing(self, position: str = "") -> None:
        """Show the editor with the cursor at a position in the note's text, or at its end."""
        if not self.is_editing:
            self.show_mode(ViewMode.LIVE)
        self.editor.moveCursor(QTextCursor.MoveOperation.End)
        if position.isdigit():
            cursor = self.editor.textCursor()
            text = for_editor(self.document.text[: int(position)])
            cursor.setPosition(min(utf16_length(text), cursor.position()))
            self.editor.setTextCursor(cursor)
        self.editor.setFocus()

    def toggle_mode(self) -> None:
        """Show the next mode: live preview, source, reading."""
        self.show_mode(self._mode.next_mode)
        self.take_focus()

    def take_focus(self) -> None:
        """Move focus to the text."""
        (self.editor if self.is_editing else self.reader).setFocus()

    def show_mode(self, mode: ViewMode, *, remember: bool = True) -> None:
        """Show the live preview, the source, or the reading view; with `remember`, store it for the note."""
        self._mode = mode
        if mode is ViewMode.READING:
            self._reading_anchor = self._heading_in_view()
            self._show_reading()
            self._start(self._render(), self.tr("show the note"))
        else:
            self.editor.set_mode(EditorMode.LIVE if mode is ViewMode.LIVE else EditorMode.SOURCE)
            self.editor.set_header(self.properties)
            self._stack.setCurrentWidget(self.editor)
        if self._find_bar is not None and not self._find_bar.isHidden():
            self.find_text()
        self._header.show_mode(mode, not self.editor.isReadOnly())
        if remember and self.path:
            self._modes.put(self.path, mode)

    def _heading_in_view(self) -> str:
        """Return the last heading up to the editor's first visible line; empty before the second heading."""
        first = self.editor.visible_lines().start
        headings = [heading.text for heading in self.editor.outline() if heading.line <= first]
        return headings[-1] if len(headings) > 1 else ""

    def toggle_links(self) -> None:
        """Show or hide the links to and from this note."""
        self._links.toggle()
        self._header.show_links(self._links.is_open)

    @property
    def links(self) -> LinksPane:
        """The pane of backlinks, outgoing links, related notes and mentions, created on first use."""
        return self._links.pane

    def _describe_empty_state(self, empty_state: EmptyState) -> None:
        has_properties = bool(scan(self.document.text).properties)
        heading = self.tr("This note has no text") if has_properties else self.tr("This note is empty")
        shortcut = self._keymap.text("edit-note")
        hint = self.tr("Press {0} to switch between reading and writing.").format(shortcut)
        empty_state.set_message(heading, hint if shortcut else "")

    @property
    def empty_state(self) -> EmptyState:
        """The empty state of a note without text, created on first use."""
        if self._empty_state is None:
            self._empty_state = EmptyState(
                self._theme,
                "note-pencil",
                "",
                "",
                (self.tr("Write"), lambda: self._start_writing()),
                self._stack,
            )
            self._describe_empty_state(self._empty_state)
            self._stack.addWidget(self._empty_state)
        return self._empty_state

    def _toggle_task(self, index: int, text: str) -> None:
        """Check or uncheck a task, by its index among those with this text, as one undo step."""
        lines = self.editor.task_lines(text)
        if index < len(lines):
            self._edit_in_reading(lambda: self.editor.toggle_task(lines[index]))

    def _edit_in_reading(self, change: Callable[[], None]) -> None:
        change()
        self._render_timer.start()

    def _toggle_callout(self, name: str) -> None:
        """Fold or unfold a callout in the reading view."""
        self._toggled_callouts ^= {name}
        self._start(self._render(), self.tr("show the note"))

    def _hover_link(self, name: str, position: QPoint) -> None:
        """Handle the pointer moving onto or off a link in the editor."""
        if name:
            self._start(self._preview_link(name, position), self.tr("preview the note"))
        else:
            self._hover_note("", position)

    async def _preview_link(self, name: str, position: QPoint) -> None:
        source, target = NotePath(self.path), parse_reference(f"[[{name}]]").target
        path = await self._client.run(lambda vault: vault.notes.resolve(target, source).path)
        if path is not None:
            self._hover_note(path.text, position)

    def _hover_note(self, path: str, position: QPoint) -> None:
        """Handle the pointer moving onto a link to `path`, or off all links."""
        if self._preview is None and path:
            self._preview = Preview(self._client, self._theme, self)
        if self._preview is not None:
            self._preview.hover_link(path, position)

    @property
    def find_bar(self) -> FindBar:
        """The find bar of this view, created on first use."""
        if self._find_bar is None:
            self._find_bar = FindBar(self._theme, self)
            self._column.insertWidget(self._column.indexOf(self.notice) + 1, self._find_bar)
        return self._find_bar

    def find_text(self) -> None:
        """Open the find bar for the current view."""
        self.find_bar.start(self.editor if self.is_editing else self.reader)

    def replace_text(self) -> None:
        """Open the find bar for the editor, switching from the reading view to live preview."""
        if not self.is_editing:
            self.show_mode(ViewMode.LIVE)
        self.find_text()

    def save(self) -> None:
        """Save the text; during a conflict, show both sides."""
        if self.document.conflict is not None:
            self.compare()
        else:
            self._start(self.document.save(), self.tr("save the note"))

    def compare(self) -> None:
        """Show both sides of a conflict and let the user decide."""
        self._start(
            unsaved_changes.compare_conflict(self.document, self._theme, self), self.tr("compare the texts")
        )

    async def confirm_close(self) -> bool:
        """Save unsaved text or ask the user about it; return whether the tab may close.

        Raises:
            OSError: A draft can't be written; the text stays unsaved.
        """
        return await unsaved_changes.confirm_close(self.document, self._theme, self)

    def save_draft(self) -> None:
        """Keep unsaved text as a draft."""
        self.document.save_draft()

    def _set_property(self, name: str, value: object) -> None:
        self._edit(partial(set_property, key=name, value=value), self.tr("set {0}").format(name))

    def _remove_property(self, name: str) -> None:
        self._edit(partial(remove_property, key=name), self.tr("remove {0}").format(name))

    def _edit(self, change: Callable[[str], str], action: str) -> None:
        """Apply a span edit to the text, as one undo step; save it, unless other text was unsaved.

        An error is shown in the banner, and the text is left unchanged.
        """
        was_dirty = self.document.is_dirty and not self.document.is_saving
        try:
            text = change(self.document.text)
        except ScriptoriumError as error:
            message = self.tr("Could not {0}: {1}").format(action, error.message)
            self.notice.show_message(message, "warning")
            return
        self._set_editor_text(text)
        self.document.mark_edited()
        if was_dirty:
            self._show_properties(scan(text), True)
        else:
            self.save()

    def _receive(self, events: tuple[object, ...]) -> None:
        for event in events:
            if isinstance(event, IndexUpdated):
                self._links.refresh()
                self._follow_index(event)
            elif isinstance(event, SettingsChanged):
                self._keymap = Keymap(event.settings.shortcuts)
                self._header.show_keymap(self._keymap)
                if self._empty_state is not None:
                    self._describe_empty_state(self._empty_state)

    def _follow_index(self, event: IndexUpdated) -> None:
        """Update links, pictures and embedded notes in the editor."""
        if any(str(path) == self.path for path in event.relinked):
            self.editor.refresh_links()
        own_path = NotePath(self.path)
        other_paths = {*event.changed, *event.removed} - {own_path}
        if other_paths or (
            own_path in event.changed and self.editor.embeds_any_of(("", own_path.name, self.path))
        ):
            self.editor.refresh_files()

    def _apply_reading_style(self) -> None:
        """Give the reading view the editor's fonts and line width."""
        style, width = self.editor.flow.style, self.editor.preferences.line_width
        self.reader.set_text_style(style.font, style.mono, width, style.zoom)
        if self.isVisible():
            self._render_timer.start()
        else:
            self._has_stale_theme = True

    def _apply_theme(self, _theme: Theme) -> None:
        """Apply the theme now, or when the tab is shown next.

        A method, not a lambda, so that Qt disconnects it when the tab is closed.
        """
        self._has_stale_theme = not self.isVisible()
        if self.isVisible():
            self._render_timer.start()
            self._links.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Apply the current theme to a tab that was hidden."""
        super().showEvent(event)
        if self._has_stale_theme:
            self._apply_theme(self._theme.theme)

    async def _complete(self, request: CompletionRequest) -> None:
        source, text = NotePath(self.path), self.editor.text()
        items = await self._client.run(lambda vault: complete(vault, source, request, text))
        self.editor.offer(request, items)

    async def _draw(self, request: DrawingRequest) -> None:
        source = NotePath(self.path)
        drawing = await self._client.run(lambda vault: loader.load_drawing(vault, source, request))
        self.editor.show_drawing(request, drawing)

    async def _resolve(self, targets: list[str]) -> None:
        """Tell the editor which link targets exist."""
        source = NotePath(self.path)

        def resolve(vault: VaultService) -> dict[str, bool]:
            names = {target: parse_reference(f"[[{target}]]").target for target in targets}
            return {
                target: not name or vault.notes.resolve(name, source).path is not None
                for target, name in names.items()
            }

        self.editor.show_links(await self._client.run(resolve))

    def _start(self, coro: Coroutine[Any, Any, object], action: str) -> None:
        tasks.start(coro, owner=self, action=action)
