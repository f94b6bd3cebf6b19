"""Measuring policies exactly: exploitability, values, distance to equilibrium, dominated actions."""
