"""transformers_mllm: image-text-to-text chat models of transformers."""
