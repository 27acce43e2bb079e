"""anthropic: text answers over pictures, through Anthropic's Messages API."""
