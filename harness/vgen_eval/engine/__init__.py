"""The engine: plan, load, generate, decode, score, summarise."""
