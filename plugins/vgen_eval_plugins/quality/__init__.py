"""Quality: assessment, perception and description of what a picture looks like."""
