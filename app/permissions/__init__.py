"""Authorization: callers, scopes, policy, approvals, grants and the audit log."""
