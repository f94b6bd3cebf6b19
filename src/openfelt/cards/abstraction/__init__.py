"""Card abstractions: maps from hold'em hands to the buckets that solvers distinguish."""
