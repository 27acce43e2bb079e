"""Adapters of models that learned: on this machine, behind a service, in their own environment."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.models"

ADAPTERS = {
    "anthropic": f"{_HERE}.anthropic.adapter:Anthropic",
    "command": f"{_HERE}.command.adapter:Command",
    "diffusers_editor": f"{_HERE}.editor.adapter:DiffusersEditor",
    "diffusers_video": f"{_HERE}.video.adapter:DiffusersVideo",
    "gemini": f"{_HERE}.gemini.adapter:Gemini",
    "scripted": f"{_HERE}.scripted:Scripted",
    "openai_compatible": f"{_HERE}.openai.adapter:OpenAICompatible",
    "transformers_mllm": f"{_HERE}.mllm.adapter:TransformersMLLM",
}
