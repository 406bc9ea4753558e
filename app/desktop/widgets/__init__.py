"""Widgets that know nothing about notes."""
