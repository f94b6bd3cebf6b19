"""The 52-card world: cards, hand values, boards up to suits, exact hand strength."""
