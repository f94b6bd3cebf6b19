"""Counter-strategies: how to win from a known opponent without becoming easy to beat."""
