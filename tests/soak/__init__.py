"""A simulated day at the table: visitors come and go, while the server and its files come to harm."""
