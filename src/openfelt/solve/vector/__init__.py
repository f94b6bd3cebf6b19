"""Solvers of two-player hold'em that follow all hands at once: one board, vectors over hole cards."""
