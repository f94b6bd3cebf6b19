"""Online tree search from the current decision, under a clock."""
