"""diffusers_editor: any image-to-image or editing pipeline of diffusers."""
