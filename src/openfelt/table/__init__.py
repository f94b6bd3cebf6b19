"""A person at a table with bots: sessions, what is shown of them, what can be learned from a hand."""
