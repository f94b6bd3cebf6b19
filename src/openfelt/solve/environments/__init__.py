"""Many games at once, for training neural players."""
