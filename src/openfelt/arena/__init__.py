"""Bots playing many hands: matches, tournaments and what they say, with intervals."""
