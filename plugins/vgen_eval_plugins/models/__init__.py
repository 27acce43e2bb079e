"""Adapters of models that learned: on this machine, behind a service, in their own environment."""

from __future__ import annotations

from collections.abc import Mapping

ADAPTERS: Mapping[str, str] = {
    "anthropic": "vgen_eval_plugins.models.anthropic.adapter:Anthropic",
    "command": "vgen_eval_plugins.models.command.adapter:Command",
    "diffusers_editor": "vgen_eval_plugins.models.editor.adapter:DiffusersEditor",
    "gemini": "vgen_eval_plugins.models.gemini.adapter:Gemini",
    "openai_compatible": "vgen_eval_plugins.models.openai.adapter:OpenAICompatible",
    "transformers_mllm": "vgen_eval_plugins.models.mllm.adapter:TransformersMLLM",
}
