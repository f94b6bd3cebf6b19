"""Sessions of a person against bots: dealing, playing, what may be shown, storage."""
