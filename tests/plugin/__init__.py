"""A memory architecture as a lab of its own would add it: one class, named by dotted path."""
