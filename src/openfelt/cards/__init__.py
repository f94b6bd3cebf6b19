"""Cards: deck, hand evaluator, canonical boards, exact hand strength and equity, abstractions."""
