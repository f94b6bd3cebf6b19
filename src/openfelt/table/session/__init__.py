"""A person's session against bots: dealing, betting, what may be shown, storage."""
