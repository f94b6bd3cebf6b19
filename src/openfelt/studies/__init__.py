"""The papers' results, each reproduced by one command."""
