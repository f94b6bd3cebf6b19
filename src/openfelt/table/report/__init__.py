"""Reports on many hands: EV lost, leaks, style; of a session at the table or of hands from elsewhere."""
