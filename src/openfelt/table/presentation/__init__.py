"""How each poker game is dealt, shown and described at the table: one file a game."""
