"""The rules of each game, one readable file per game; `game.py` defines the protocol."""
