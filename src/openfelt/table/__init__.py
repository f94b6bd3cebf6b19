"""The poker table: sessions of a person against bots, their review, the web server and the terminal."""
