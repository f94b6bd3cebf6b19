"""The command `felt`: one file a command, each with its arguments and what it prints."""
