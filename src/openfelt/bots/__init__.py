"""Whatever can sit at a table: policies, rules, formulas; given what a seat sees, a bot names an action."""
