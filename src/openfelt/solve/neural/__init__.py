"""Neural players: networks that learn from many games at once."""
