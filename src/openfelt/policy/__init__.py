"""Policies: action probabilities per infoset, for every kind of game, and their files."""
