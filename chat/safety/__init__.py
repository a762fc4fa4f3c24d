"""Participants' safety: the risk screen, what follows from a hit, and the alert.

docs/safety.md says what is recognised, what happens then, and how well the screen does.
"""
