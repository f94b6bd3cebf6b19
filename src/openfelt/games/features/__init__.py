"""Infosets and public states as vectors, for neural networks."""
