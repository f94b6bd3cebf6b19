"""Counter-strategies: win from a modelled opponent, without becoming easy to exploit."""
