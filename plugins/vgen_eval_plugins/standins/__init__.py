"""Tiny models and loopback services in the place of real ones, for checks and tests."""
