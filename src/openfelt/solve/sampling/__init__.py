"""Solvers that sample: tree search and Monte Carlo CFR, on CPU threads or a GPU."""
