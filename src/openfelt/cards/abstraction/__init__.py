"""Hold'em hands to buckets: what a player who learns can tell apart."""
