"""The table in the browser: a server that decides everything, and pages that show it."""
