"""The panel of suggested relations."""
