"""Studies of our own on opponent models."""
