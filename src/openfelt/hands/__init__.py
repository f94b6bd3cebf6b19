"""Hands that were played: as records, as files that others read and write, and by the million."""
