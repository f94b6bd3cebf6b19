"""Algorithms that learn tables by walking a game; each is a small rule on a shared traversal."""
