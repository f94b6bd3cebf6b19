"""Re-solving: a subgame of two-player limit hold'em is solved anew when it is reached, safely."""
