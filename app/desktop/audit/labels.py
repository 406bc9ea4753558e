"""Labels and colors of an audit entry's decision, and the text of its result."""

from __future__ import annotations

import re

from app.desktop.runtime.translation import translate
from app.desktop.theme.colors import Theme
from app.errors import ERROR_TYPES
from app.permissions.audit_entry import AuditDecision
from app.vault.markdown.links import quote_wikilinks

_ERROR_CODE = re.compile(rf"^(written, then )?({'|'.join(ERROR_TYPES)}): (?=\S)")


def decision_label(decision: str) -> str:
    """Return the label of a decision; an unknown decision is its own label."""
    labels: dict[str, str] = {
        AuditDecision.NO_APPROVAL_NEEDED: translate("Audit", "No approval needed"),
        AuditDecision.AUTO_APPROVED: translate("Audit", "Auto-approved"),
        AuditDecision.USER_APPROVED: translate("Audit", "Approved"),
        AuditDecision.USER_DENIED: translate("Audit", "Denied"),
        AuditDecision.TIMED_OUT: translate("Audit", "Timed out"),
        AuditDecision.RULE: translate("Audit", "Denied by rule"),
        AuditDecision.FAILED: translate("Audit", "Failed"),
        AuditDecision.CANCELLED: translate("Audit", "Canceled"),
        AuditDecision.NOT_ASKED: translate("Audit", "Without approval"),
    }
    return labels.get(decision, decision)


def decision_color(decision: str, theme: Theme) -> str:
    """Return the color of a decision; muted for an unknown decision."""
    colors: dict[str, str] = {
        AuditDecision.NO_APPROVAL_NEEDED: theme.muted,
        AuditDecision.AUTO_APPROVED: theme.accent,
        AuditDecision.USER_APPROVED: theme.success,
        AuditDecision.USER_DENIED: theme.danger,
        AuditDecision.TIMED_OUT: theme.warning,
        AuditDecision.RULE: theme.danger,
        AuditDecision.FAILED: theme.warning,
        AuditDecision.CANCELLED: theme.muted,
        AuditDecision.NOT_ASKED: theme.warning,
    }
    return colors.get(decision, theme.muted)


def result_text(result: str) -> str:
    """Return a logged result, or the reason of a failed call, without the code of its error."""
    return quote_wikilinks(_ERROR_CODE.sub(r"\1", result))
