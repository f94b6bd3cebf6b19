"""Solvers: algorithms that learn a policy by traversing a game; each is a rule on a shared traversal."""
