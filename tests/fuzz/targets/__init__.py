"""What is fuzzed, one file per format."""
