"""Thinking at the table: tree search from the decision at hand, under a clock."""
