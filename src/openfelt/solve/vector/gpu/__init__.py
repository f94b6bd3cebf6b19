"""CFR-BR on a GPU."""
