"""Answers in words: numbers, options, scores, JSON; what is ambiguous is refused, never guessed."""
