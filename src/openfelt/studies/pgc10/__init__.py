"""Ponsen, Gerritsen & Chaslot 2010 (PGC10)."""
