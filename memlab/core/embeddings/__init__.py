"""The door to embedding models: one protocol, three providers."""
