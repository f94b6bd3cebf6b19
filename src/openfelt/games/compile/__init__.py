"""Rules to arrays: the graph of states, the tree of histories, the sequence form; checks and export."""
