"""The basis of all other packages: errors, compiled kernels, files that survive a kill."""
