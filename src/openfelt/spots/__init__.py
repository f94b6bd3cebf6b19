"""The spot solver: two ranges, a board and bet sizes, solved to a given exploitability."""
