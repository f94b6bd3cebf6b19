"""Taurus (TAU)."""
