"""diffusers_video: image-to-video pipelines of diffusers."""
