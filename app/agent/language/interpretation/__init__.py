"""Decide what a request means: rules, the choice between readings, follow-ups and corrections."""
