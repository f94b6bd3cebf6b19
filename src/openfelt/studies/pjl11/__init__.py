"""Ponsen, de Jong & Lanctot 2011 (PJL11)."""
