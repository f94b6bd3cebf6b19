"""Opponents: models learned from the hands they played, and counter-strategies to them."""
