"""gemini: text and pictures in and out, through google-genai."""
