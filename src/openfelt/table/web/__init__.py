"""The table in the browser: the server, and the pages in `static/`."""
