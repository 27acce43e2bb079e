"""Adapters of models that learned: on this machine, behind a service, in their own environment."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.models"

ADAPTERS = {
    "anthropic": f"{_HERE}.anthropic.adapter:Anthropic",
    "command": f"{_HERE}.command.adapter:Command",
    "diffusers_editor": f"{_HERE}.editor.adapter:DiffusersEditor",
    "gemini": f"{_HERE}.gemini.adapter:Gemini",
    "openai_compatible": f"{_HERE}.openai.adapter:OpenAICompatible",
    "transformers_mllm": f"{_HERE}.mllm.adapter:TransformersMLLM",
}
