"""The names of the devices that solvers run on."""

CPU, CUDA, AUTO = "cpu", "cuda", "auto"
DEVICES = (CPU, CUDA, AUTO)
