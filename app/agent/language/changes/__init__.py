"""Requests that change notes in forms with only one meaning."""
