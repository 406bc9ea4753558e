"""A note in a tab: shows it, lets the user edit and save it, and keeps up with what others do to it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.desktop import dialogs, tasks
from app.desktop.bridge import VaultClient
from app.desktop.note_view import page as pages
from app.desktop.note_view import saving
from app.desktop.note_view.drafts import Drafts
from app.desktop.note_view.editor import SourceEditor, Wanted
from app.desktop.note_view.find_bar import FindBar
from app.desktop.note_view.header import NoteHeader
from app.desktop.note_view.links_pane import LinksPane
from app.desktop.note_view.notice import NoteNotice
from app.desktop.note_view.page import Page
from app.desktop.note_view.preview import Preview
from app.desktop.note_view.properties_form import PropertiesForm
from app.desktop.note_view.reader import Reader
from app.desktop.note_view.render_colors import render_colors
from app.desktop.theme import ThemeSource
from app.errors import NotFoundError, ScriptoriumError
from app.index.records import IndexUpdated, Mention
from app.vault.markdown import edit
from app.vault.markdown.scan import scan
from app.vault.path import NotePath
from app.vault.store import NotesChanged

_RENDER_MS, _DRAFT_MS = 250, 900


class NoteView(QWidget):
    """One note.

    `open_requested` carries a path or name and a fragment, `search_requested` a query, `acted` a command
    (see `header.ACTIONS`) and the note's path, `create_requested` the name of a note to make.
    """

    open_requested = Signal(str, str)
    search_requested = Signal(str)
    title_changed = Signal(str)
    dirty_changed = Signal(bool)
    acted = Signal(str, str)
    create_requested = Signal(str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = ""
        self._client = client
        self._theme = theme
        self._page: Page | None = None
        self._dirty = False
        self._filling = False
        self._drafts = Drafts(client.workspace.root)
        self._build()
        self._connect()
        self._render_soon = self._timer(_RENDER_MS, lambda: self._start(self._render(True), "show the note"))
        self._draft_soon = self._timer(_DRAFT_MS, self._keep_draft)
        client.events.batch.connect(self._receive)
        theme.changed.connect(lambda _: self._render_soon.start())

    def _build(self) -> None:
        self._header = NoteHeader(self._theme, self)
        self._notice = NoteNotice(self._theme, self)
        self._properties = PropertiesForm(self._theme, self)
        self.reader = Reader(self._theme, self)
        self.editor = SourceEditor(self._theme, self)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.reader)
        self._stack.addWidget(self.editor)
        self._links = LinksPane(self._theme, self)
        self._links.hide()
        self._preview = Preview(self._client, self._theme, self)
        self._find = FindBar(self._theme, self)
        body = QSplitter(Qt.Orientation.Vertical)
        body.setHandleWidth(1)
        body.addWidget(self._stack)
        body.addWidget(self._links)
        body.setStretchFactor(0, 3)
        body.setStretchFactor(1, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self._header, self._notice, self._find, self._properties):
            column.addWidget(widget)
        column.addWidget(body, 1)

    def _connect(self) -> None:
        self._header.mode_toggled.connect(self.toggle_mode)
        self._header.links_toggled.connect(self.toggle_links)
        self._header.save_wanted.connect(self.save)
        self._header.acted.connect(self._act)
        self._properties.changed.connect(self._set_property)
        self._properties.removed.connect(self._remove_property)
        self.reader.note_clicked.connect(self.open_requested)
        self.reader.missing_clicked.connect(self.create_requested)
        self.reader.tag_clicked.connect(lambda tag: self.search_requested.emit(f"tag:{tag}"))
        self.reader.web_clicked.connect(lambda url: self._start(self._open_web(url), "open the address"))
        self.reader.hovered.connect(self._hover)
        self.editor.textChanged.connect(self._typed)
        self.editor.completion_wanted.connect(lambda w: self._start(self._complete(w), "complete"))
        self.editor.link_followed.connect(lambda target: self.open_requested.emit(target, ""))
        self._links.open_requested.connect(self.open_requested)
        self._links.create_requested.connect(self.create_requested)
        self._links.link_wanted.connect(lambda m: self._start(self._link_mention(m), "make the link"))
        for keys, act in (
            (QKeySequence.StandardKey.Save, self.save),
            (QKeySequence("Ctrl+E"), self.toggle_mode),
            (QKeySequence.StandardKey.Find, self.find),
        ):
            shortcut = QShortcut(keys, self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)

    # Opening

    async def open(self, path: str, fragment: str = "") -> None:
        """Show the note at `path` (or called so), at a heading, a `^block` or `line=12`.

        Raises:
            NotFoundError, StorageError: it is not there, or can't be read; what was shown stays.
        """
        found = await self._client.run(lambda ws: pages.find_note(ws, path))
        if found is None:
            raise NotFoundError(f"There is no note called {path}.", name=path)
        if found.text != self.path or self._page is None:
            page = await self._client.run(lambda ws: pages.load(ws, found))
            self._take(page)
            self._offer_draft(page)
            await self._render(False)
        self._go_to(fragment)

    def _take(self, page: Page) -> None:
        """Show this state of the note in place of what was shown."""
        moved = str(page.path) != self.path
        self._page, self.path = page, str(page.path)
        self._fill(page.text)
        self.editor.setReadOnly(bool(page.problem))
        self._set_dirty(False)
        self._header.show_path(page.path)
        self._header.show_mode(self._editing, not page.problem)
        if page.problem:
            self._notice.say(f"{page.problem} It is shown for reading and stays as it is.", "warning")
        else:
            self._notice.clear()
        self._properties.show_properties(page.parsed, not page.problem)
        if moved:
            self.title_changed.emit(page.path.name)
        if not self._links.isHidden():
            self._start(self._show_links(), "show the links")

    def _fill(self, text: str) -> None:
        """Put `text` into the editor, keeping the place; line ends are kept apart, see `_text`."""
        self._filling = True
        place = self.editor.verticalScrollBar().value()
        at = self.editor.textCursor().position()
        self.editor.setPlainText(text.replace("\r\n", "\n"))
        cursor = self.editor.textCursor()
        cursor.setPosition(min(at, max(0, self.editor.document().characterCount() - 1)))
        self.editor.setTextCursor(cursor)
        self.editor.verticalScrollBar().setValue(place)
        self._filling = False

    def _go_to(self, fragment: str) -> None:
        if fragment.startswith("line=") and fragment[5:].isdigit():
            self.editor.go_to_line(int(fragment[5:]))
            heading = self._heading_before(int(fragment[5:]))
            if heading:
                self.reader.go_to(heading)
        elif fragment:
            self.reader.go_to(fragment)
            for heading in self._page.parsed.headings if self._page else ():
                if heading.text.casefold() == fragment.casefold():
                    self.editor.go_to_line(heading.line)

    def _heading_before(self, line: int) -> str:
        headings = self._page.parsed.headings if self._page else ()
        before = [heading.text for heading in headings if heading.line <= line]
        return before[-1] if before else ""

    async def _render(self, keep_place: bool) -> None:
        if self._page is None:
            return
        path, text, colors = self._page.path, self._text(), render_colors(self._theme.theme)
        shown = await self._client.run(lambda ws: pages.rendered(ws, path, text, colors))
        if self._page is not None and self._page.path == path:
            self.reader.show_rendered(shown, keep_place=keep_place)

    # Modes

    @property
    def _editing(self) -> bool:
        return self._stack.currentWidget() is self.editor

    def toggle_mode(self) -> None:
        """Change between reading and source."""
        if self._editing:
            self._start(self._render(True), "show the note")
            self._stack.setCurrentWidget(self.reader)
        else:
            self._stack.setCurrentWidget(self.editor)
        self._stack.currentWidget().setFocus()
        self._header.show_mode(self._editing, not self.editor.isReadOnly())

    def toggle_links(self) -> None:
        """Show or hide what links here and where this note links."""
        self._links.setVisible(self._links.isHidden())
        self._header.show_links(not self._links.isHidden())
        if not self._links.isHidden():
            self._start(self._show_links(), "show the links")

    def find(self) -> None:
        """Find in the view that is in front."""
        self._find.start(self.editor if self._editing else self.reader)

    # Editing

    def _text(self) -> str:
        """The edited text, with the note's own line ends."""
        text = self.editor.toPlainText()
        if self._page is None or not self._dirty:
            return self._page.text if self._page else text
        return saving.with_line_ends(text, self._page.text)

    def _typed(self) -> None:
        if self._filling or self._page is None:
            return
        self._set_dirty(True)
        self._draft_soon.start()

    def _set_dirty(self, dirty: bool) -> None:
        if dirty != self._dirty:
            self._dirty = dirty
            self.dirty_changed.emit(dirty)
        self._header.show_state("Unsaved" if dirty else "", dirty=dirty)

    def _edit(self, change: partial[str], what: str) -> None:
        """Change the text by a span edit, as if the user had typed it, and save it if it was saved."""
        if self._page is None:
            return
        was_dirty = self._dirty
        try:
            text = change(self._text())
        except ScriptoriumError as error:
            self._notice.say(f"Could not {what}: {error.message}", "warning")
            return
        self._fill(text)
        self._set_dirty(True)
        self._properties.show_properties(scan(text), True)
        if was_dirty:
            self._draft_soon.start()
        else:
            self.save()

    def _set_property(self, name: str, value: object) -> None:
        self._edit(partial(edit.set_property, key=name, value=value), f"set {name}")

    def _remove_property(self, name: str) -> None:
        self._edit(partial(edit.remove_property, key=name), f"remove {name}")

    def _keep_draft(self) -> None:
        if self._page is not None and self._dirty:
            self._drafts.save(self._page.path, self._page.hash, self._text())

    def _offer_draft(self, page: Page) -> None:
        """Unsaved text of an earlier run is put back into the editor, where the user can see it."""
        draft = self._drafts.load(page.path)
        if draft is None or draft.text == page.text or page.problem:
            self._drafts.drop(page.path)
            return
        changed = "" if draft.base_hash == page.hash else " The note was changed since then."
        self._notice.ask(
            f"There is unsaved text of this note from an earlier session.{changed}",
            (("Take it", partial(self._take_draft, draft.text)), ("Throw it away", self._drop_draft)),
        )

    def _take_draft(self, text: str) -> None:
        self._fill(text)
        self._set_dirty(True)
        self._stack.setCurrentWidget(self.editor)
        self._header.show_mode(True, True)
        self._notice.clear()

    def _drop_draft(self) -> None:
        if self._page is not None:
            self._drafts.drop(self._page.path)
        self._notice.clear()

    # Saving

    def save(self) -> None:
        """Save what was typed."""
        if self._dirty:
            self._start(self.save_now(), "save the note")

    async def save_now(self) -> bool:
        """Save what was typed; whether it is on the disk now."""
        page, typed = self._page, self.editor.toPlainText()
        if page is None or not self._dirty:
            return True
        text = self._text()
        result = await self._client.run(lambda ws: saving.save(ws, page, text))
        return self._settle(result, typed)

    def _settle(self, result: saving.Result, typed: str) -> bool:
        match result:
            case saving.Saved(page):
                self._drafts.drop(page.path)
                went_on = self.editor.toPlainText() != typed
                self._page = page
                self._properties.show_properties(page.parsed, True)
                self._set_dirty(went_on)
                self._notice.clear()
                self._render_soon.start()
                return True
            case saving.Changed(theirs, merged):
                self._keep_draft()
                self._ask_about_change(theirs, merged)
            case saving.Failed(reason):
                self._keep_draft()
                self._notice.say(f"Not saved: {reason} Your text is kept here.", "danger")
        return False

    def _ask_about_change(self, theirs: Page | None, merged: str | None) -> None:
        """The note was changed outside while there is unsaved text here: the user chooses."""
        if theirs is None:
            self._notice.ask(
                "The note was deleted or moved outside. Your text is kept here.",
                (("Make it again", self._make_again), ("Close without it", self._give_up)),
            )
            return
        answers = [("Load theirs", partial(self._load_theirs, theirs))]
        if merged is not None:
            answers.insert(0, ("Merge both", partial(self._use, theirs, merged)))
        answers.append(("Keep mine", partial(self._use, theirs, self._text())))
        self._notice.ask("The note was changed outside while you were writing.", tuple(answers))

    def _use(self, theirs: Page, text: str) -> None:
        """Save `text` over what is on the disk now, which stays in the note's history."""
        self._page = theirs
        self._fill(text)
        self._set_dirty(True)
        self._notice.clear()
        self.save()

    def _load_theirs(self, theirs: Page) -> None:
        self._drafts.drop(theirs.path)
        self._take(theirs)
        self._render_soon.start()

    def _make_again(self) -> None:
        page, text = self._page, self._text()
        if page is not None:
            self._start(self._make(page.path, text), "make the note again")

    async def _make(self, path: NotePath, text: str) -> None:
        typed = self.editor.toPlainText()
        self._settle(await self._client.run(lambda ws: saving.create(ws, path, text)), typed)

    def _give_up(self) -> None:
        if self._page is not None:
            self._drafts.drop(self._page.path)
        self._set_dirty(False)
        self._notice.say("This note does not exist any more.", "warning")

    async def close_requested(self) -> bool:
        """Whether the tab may close; unsaved text is saved, thrown away, or keeps it open."""
        if not self._dirty:
            return True
        name = self._page.path.name if self._page else ""
        answers = ("Save", "Throw away", "Cancel")
        answer = await dialogs.choose(self, f"Save “{name}”?", "It has text that is not saved yet.", answers)
        if answer == 0:
            return await self.save_now()
        if answer == 1 and self._page is not None:
            self._drafts.drop(self._page.path)
            self._set_dirty(False)
        return answer == 1

    # Keeping up

    def _receive(self, events: tuple[object, ...]) -> None:
        own = NotePath(self.path)
        for event in events:
            match event:
                case NotesChanged():
                    moved = dict(event.moved)
                    if own in moved:
                        own = moved[own]
                        self._start(self._reload(own), "follow the note")
                    elif own in event.paths or own in event.removed:
                        self._start(self._reload(own), "reload the note")
                case IndexUpdated() if not self._links.isHidden():
                    self._start(self._show_links(), "show the links")

    async def _reload(self, path: NotePath) -> None:
        """Show the note as it is on the disk now, unless there is unsaved text."""
        try:
            page = await self._client.run(lambda ws: pages.load(ws, path))
        except NotFoundError:
            if self._dirty:
                self._ask_about_change(None, None)
            else:
                self._notice.say("This note was deleted or moved. What you see is how it was.", "warning")
            return
        if self._page is not None and page.content == self._page.content and page.path == self._page.path:
            return
        if self._dirty and self._page is not None:
            base, ours = self._page, self._text()
            result = await self._client.run(lambda ws: saving.compare(ws, base, ours, path))
            self._settle(result, self.editor.toPlainText())
            return
        self._take(page)
        await self._render(True)

    async def _show_links(self) -> None:
        if self._page is not None:
            path = self._page.path
            self._links.show_surroundings(await self._client.run(lambda ws: pages.surroundings(ws, path)))

    # Smaller things

    def _act(self, what: str) -> None:
        self.acted.emit(what, self.path)

    async def _complete(self, wanted: Wanted) -> None:
        names = await self._client.run(
            lambda ws: (
                ws.complete_tags(wanted.word, 12) if wanted.kind == "tag" else ws.complete_names(wanted.word, 12)
            )
        )
        self.editor.offer(wanted, list(names))

    async def _link_mention(self, mention: Mention) -> None:
        name = self._page.path if self._page else None
        if name is None:
            return
        outcome = await self._client.run(lambda ws: saving.link_mention(ws, mention, name))
        if not outcome.success and not outcome.denied:
            self._notice.say(outcome.message, "warning")

    async def _open_web(self, url: str) -> None:
        from PySide6.QtCore import QUrl
        from PySide6.QtGui import QDesktopServices

        text = f"{url}\n\nIt opens in your browser."
        if await dialogs.confirm(self, "Open this address?", text, "Open", "Cancel"):
            QDesktopServices.openUrl(QUrl(url))

    def _hover(self, path: str, at: QPoint) -> None:
        self._preview.point_at(path, at)

    def changeEvent(self, event: QEvent) -> None:
        """Nothing is previewed while another window is in front."""
        if event.type() == QEvent.Type.ActivationChange:
            self._preview.point_at("", QPoint())
        super().changeEvent(event)

    def _timer(self, ms: int, act: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(ms)
        timer.timeout.connect(act)  # type: ignore[arg-type]
        return timer

    def _start(self, coro: object, what: str) -> None:
        tasks.start(coro, owner=self, what=what)  # type: ignore[arg-type]
