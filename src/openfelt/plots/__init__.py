"""Every figure, for commands and studies; needs matplotlib."""
