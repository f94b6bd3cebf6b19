"""Drills: single decisions with instant feedback, repeated on a schedule."""
