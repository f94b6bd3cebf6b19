"""Intervals, variance reduction and sequential tests for winnings."""
