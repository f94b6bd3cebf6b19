"""Bots that play by hand-written formulas."""
