"""The protocol of the Annual Computer Poker Competition, version 2.0.0: client, dealer and match logs."""
