"""Reproductions of figures and tables of papers, one command each."""
