"""Heinrich & Silver 2014 (HS14)."""
