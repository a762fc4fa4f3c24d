"""The door to language models: one protocol, three providers."""
