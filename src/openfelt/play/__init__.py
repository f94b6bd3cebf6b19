"""Sitting at a table: hands played step by step, and a terminal to play them in."""
