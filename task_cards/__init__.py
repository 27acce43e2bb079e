"""Task cards, as package data."""
