"""Opponent models: what a player holds and does, learned from hands that were seen."""
