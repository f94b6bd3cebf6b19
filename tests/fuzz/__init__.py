"""Fuzzing of every file format and protocol that the product reads (docs/robustness.md)."""
