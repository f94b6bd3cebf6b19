"""The result of learning: probabilities per row, and its file format."""
