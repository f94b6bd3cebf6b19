"""Neural players, measured exactly."""
