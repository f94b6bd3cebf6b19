"""What a hand was worth: what the others may hold, what actions win in the mean, what luck brought."""
