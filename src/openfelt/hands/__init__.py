"""Hand histories: records, the PHH format, and a store for millions of hands."""
