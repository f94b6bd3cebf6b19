"""Two-player hold'em without abstraction: best responses and expected values, exact."""
