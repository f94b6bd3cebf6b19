"""Matches between bots to look on at: all cards open, and all strategies."""
