"""Opponent models: what a player does and may hold, learned from observed hands."""
