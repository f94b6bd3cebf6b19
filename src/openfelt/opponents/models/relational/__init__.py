"""Relational opponent models (PGC10): first-order decision trees."""
