"""From rules to arrays: state graph, tree of histories, betting tree, sequence form; checks and export."""
