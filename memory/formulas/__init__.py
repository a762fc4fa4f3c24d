"""The mathematics of memory: numbers in, numbers out. Nothing here imports Django."""
