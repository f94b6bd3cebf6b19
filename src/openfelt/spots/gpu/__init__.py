"""The spot solver on a GPU."""
