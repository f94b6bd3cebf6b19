"""What every other folder stands on: errors, compiled kernels, safe files."""
