"""Matches, tournaments and freeze-outs between bots, with intervals for their results."""
