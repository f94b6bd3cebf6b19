"""What a visitor can choose from: games, bots, how strong they are and how they play."""
