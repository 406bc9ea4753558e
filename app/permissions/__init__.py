"""Who may do what: callers, scopes, policy, approvals, grants, audit."""
