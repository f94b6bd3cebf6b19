"""Bots: anything that can take a seat. Given what the seat sees, a bot chooses an action."""
