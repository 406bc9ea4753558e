"""The status bar: counts, progress, problems and the auto-approve lock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QStatusBar, QToolButton, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText
from app.desktop.shell.command_registry import panel_title
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ThemedButton
from app.embeddings.throttle import FULL_SPEED, Reason, ThrottleState

if TYPE_CHECKING:
    from app.embeddings.sync_scheduler import EmbeddingProgressed
    from app.index.records import ScanProgress, ScanReport, VaultStats


class ProgressItem(QWidget):
    """The progress of a long task: name, counts, time left, bar and a stop button."""

    stopped = Signal()

    def __init__(self, theme: ThemeSource, name: str, stop_label: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._started_at = 0.0
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addStretch(1)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(round(96 * theme.zoom))
        self.label = QLabel()
        self.cancel_button = ThemedButton(theme, "x", stop_label, size=12)
        self.cancel_button.clicked.connect(self.stopped)
        for widget in (self.label, self.bar, self.cancel_button):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def show_progress(self, done: int, total: int, name: str = "") -> None:
        """Show `done` of `total` (0 if unknown); a `name` renames the task."""
        if self.isHidden() or (name and name != self._name):
            self._started_at = time.monotonic()
        self._name = name or self._name
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        counts = f"{done:,} / {total:,}" if total else f"{done:,}"
        remaining = time_left(done, total, time.monotonic() - self._started_at)
        self.label.setText(f"{self._name} {counts}{f' · {remaining}' if remaining else ''}")
        self.bar.setAccessibleName(self.label.text())
        self.show()

    def finish(self) -> None:
        """Hide the progress of a task that has finished or was stopped."""
        self.hide()


class EmbeddingProgressItem(ProgressItem):
    """The progress of indexing for semantic search; the user can pause (`stopped`) and resume it."""

    resumed = Signal()

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(theme, "", "", parent)
        self._name = self.tr("Indexing for semantic search")
        self._is_paused = False
        self.cancel_button.clicked.disconnect()
        self.cancel_button.clicked.connect(self._toggle_pause)
        self._show_throttle(FULL_SPEED)

    def show_embedding(self, progress: EmbeddingProgressed) -> None:
        """Show the progress, or hide it if indexing is over."""
        if progress.is_over:
            self.finish()
            return
        name = (
            self.tr("Indexing with the new semantic search model")
            if progress.switching
            else self.tr("Indexing for semantic search")
        )
        self.show_progress(progress.done, progress.total, name)
        self._show_throttle(progress.pace)

    def _show_throttle(self, throttle: ThrottleState) -> None:
        self._is_paused = throttle.reason == "user"
        self.cancel_button.set_symbol("play" if self._is_paused else "pause")
        self.cancel_button.set_label(
            self.tr("Resume indexing for semantic search")
            if self._is_paused
            else self.tr("Pause indexing for semantic search")
        )
        reasons: dict[Reason, str] = {
            "user": self.tr("paused"),
            "battery": self.tr("on battery"),
            "busy": self.tr("computer busy"),
            "": "",
        }
        reason = reasons[throttle.reason]
        if throttle.speed == "slow":
            reason = self.tr("throttled, {0}").format(reason)
        elif throttle.speed == "paused" and throttle.reason != "user":
            reason = self.tr("paused, {0}").format(reason)
        if reason:
            self.label.setText(f"{self._name} {self.bar.value():,} / {self.bar.maximum():,} · {reason}")
            self.bar.setAccessibleName(self.label.text())
        self.setToolTip(
            self.tr("Notes are indexed for semantic search on this computer. You can keep working.")
        )

    def _toggle_pause(self) -> None:
        (self.resumed if self._is_paused else self.stopped).emit()


class StatusBar(QStatusBar):
    """The bar at the bottom of the window; each signal requests the action of a button."""

    stop_scan_requested = Signal()
    pause_embedding_requested = Signal()
    resume_embedding_requested = Signal()
    problems_requested = Signal()
    grants_requested = Signal()

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._client: VaultClient | None = None
        self.setSizeGripEnabled(False)
        self.counts = QLabel()
        self.mode = QLabel()
        self.mode.setProperty("tone", "warning")
        self.scan = ProgressItem(
            theme,
            self.tr("Scanning"),
            self.tr("Stop the scan; it resumes the next time you open the vault"),
            self,
        )
        self.scan.stopped.connect(self.stop_scan_requested)
        self.embedding = EmbeddingProgressItem(theme, self)
        self.embedding.stopped.connect(self.pause_embedding_requested)
        self.embedding.resumed.connect(self.resume_embedding_requested)
        self.cost_label = QLabel()
        self.word_count = QLabel()
        self.problems_button = ThemedButton(theme, "warning-circle", panel_title("problems"), size=14)
        self.problems_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.problems_button.clicked.connect(self.problems_requested)
        self.lock_button = ThemedButton(theme, "lock-simple", "", size=14)
        self.lock_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.lock_button.clicked.connect(self.grants_requested)
        self.addWidget(self.counts)
        self.addWidget(self.mode)
        for widget in (
            self.word_count,
            self.scan,
            self.embedding,
            self.cost_label,
            self.problems_button,
            self.lock_button,
        ):
            self.addPermanentWidget(widget)
        self.set_client(None)

    def showEvent(self, event: QShowEvent) -> None:
        """Show the current message again: Qt hides only the labels that are visible when it is set."""
        super().showEvent(event)
        if message := self.currentMessage():
            self.clearMessage()
            self.showMessage(message)

    def set_client(self, client: VaultClient | None, read_only: bool = False) -> None:
        """Switch to the vault of `client`, or to none."""
        self._client = client
        self.scan.finish()
        self.embedding.finish()
        self.cost_label.clear()
        self.word_count.clear()
        self.counts.setText("" if client else self.tr("No vault open"))
        self.mode.setText(self.tr("Read-only") if client and read_only else "")
        self.problems_button.setVisible(False)
        self.lock_button.setVisible(client is not None)
        self.show_grants(())
        if client is not None:
            self.refresh()

    def show_scan(self, progress: ScanProgress) -> None:
        """Show the progress of the scan."""
        name = self.tr("Indexing") if progress.phase == "words" else self.tr("Scanning")
        self.scan.show_progress(progress.done, progress.total, name)

    def hide_scan(self) -> None:
        """Hide the progress of a scan that was canceled or failed."""
        self.scan.finish()

    def show_scanned(self, report: ScanReport) -> None:
        """Hide the progress, report a stopped scan and update the counts."""
        self.scan.finish()
        if report.cancelled:
            self.showMessage(self.tr("Scan stopped. It resumes the next time you open the vault."), 6000)
        self.refresh()

    def show_grants(self, labels: tuple[str, ...]) -> None:
        """Show a closed lock if there are no auto-approve rules, else an open lock with their number."""
        text = "\n".join(labels) if labels else self.tr("Every change needs your approval")
        self.lock_button.set_symbol("lock-simple-open" if labels else "lock-simple")
        self.lock_button.setText(str(len(labels)) if labels else "")
        self.lock_button.set_label(self.tr("Auto-approved:\n{0}").format(text) if labels else text)
        _set_tone(self.lock_button, "warning" if labels else "")

    def show_word_count(self, text: str) -> None:
        """Show the word count of the active note or its selection."""
        self.word_count.setText(text)

    def show_cost(self, text: str) -> None:
        """Show the model and the usage of this session."""
        self.cost_label.setText(text)

    def refresh(self) -> None:
        """Start updating the counts."""
        if self._client is not None:
            tasks.start(self._count(self._client), owner=self, action=self.tr("count the notes"))

    async def _count(self, client: VaultClient) -> None:
        stats: VaultStats = await client.run(lambda vault: vault.notes.stats())
        problems = await client.run(lambda vault: len(vault.notes.problems()))
        if client is not self._client:
            return
        counts = (
            PluralText("StatusBar", "{0} note", "{0} notes").format(stats.notes),
            PluralText("StatusBar", "{0} link", "{0} links").format(stats.links),
            PluralText("StatusBar", "{0} word", "{0} words").format(stats.words),
        )
        self.counts.setText(" · ".join(counts))
        self.problems_button.setText(str(problems))
        self.problems_button.setVisible(problems > 0)


def time_left(done: int, total: int, seconds: float) -> str:
    """Return the estimated time left; empty if it can't be estimated."""
    if seconds < 2 or not 0 < done < total:
        return ""
    seconds_left = seconds / done * (total - done)
    if seconds_left < 90:
        return f"{max(1, round(seconds_left))} s"
    return f"{round(seconds_left / 60)} min"


def _set_tone(button: QToolButton, tone: str) -> None:
    if button.property("tone") != tone:
        button.setProperty("tone", tone)
        button.style().polish(button)
