"""The lobby: games, bots, their strengths and policies."""
