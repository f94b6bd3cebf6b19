"""The shared traversals that solvers and measurements are small rules on."""
