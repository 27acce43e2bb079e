"""openai_compatible: chat, image edits and videos of OpenAI and all that speak like it."""
