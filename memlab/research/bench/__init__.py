"""What recall and live turns cost, measured against the barest thing that could do the same."""
