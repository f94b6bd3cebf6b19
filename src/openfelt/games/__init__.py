"""The rules of each game, one readable file a game, behind the protocol in `game.py`."""
