"""Studies of our own on limit hold'em: learning curves, exploitability, cross tables."""
