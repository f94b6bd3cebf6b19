"""The exact hold'em engine on a GPU."""
