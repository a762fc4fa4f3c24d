"""Replaying recorded dialogues through the code of the live chat, and measuring what memory brings.

``dialogue`` holds the values, ``dialogue_file`` reads them from JSON (docs/dialogues.md),
``laboratory`` keeps the temporary lab, ``conversation`` lives a dialogue through under one
architecture, ``probes`` asks its questions, ``report`` sums up, ``run`` puts it together.
"""
