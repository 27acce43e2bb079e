"""The pipeline class that a checkpoint's own model_index.json names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vgen_eval.errors import MissingExtra, NotRunnable, UsageError, nearest

from vgen_eval_plugins.models.local.hub import Source, read_json

__all__ = ["EXTRA", "find_class", "import_diffusers", "read_index"]

EXTRA = "diffusers"
INDEX = "model_index.json"


def read_index(source: Source) -> Mapping[str, Any]:
    """The checkpoint's model_index.json; NotRunnable, with the cure, when it has none."""
    index: Any = read_json(source, INDEX, extra=EXTRA)
    if index is None:
        raise NotRunnable(
            f"{source} has no {INDEX}: it is no pipeline of diffusers",
            cure="name a folder that a pipeline's save_pretrained wrote, or a repository laid "
            "out for diffusers; single weight files are not read",
        )
    own = index.get("_class_name") if isinstance(index, Mapping) else None
    if not (isinstance(own, list) and own) and not (isinstance(own, str) and own):
        raise NotRunnable(f"{source}: {INDEX} names no _class_name", cure="save the pipeline anew")
    return dict(index)


def components(index: Mapping[str, Any]) -> list[str]:
    """Names of the pipeline's parts, each a folder of the checkpoint."""
    return [
        name
        for name, value in index.items()
        if isinstance(value, list) and len(value) == 2 and value[0] is not None
    ]


def find_class(index: Mapping[str, Any], *, named: str | None, trusted: bool) -> Any | None:
    """The pipeline's class, of diffusers; None where it is code of the checkpoint itself.

    `named`: another class of diffusers to use; `trusted`: may the checkpoint's code be run?
    """
    own = index["_class_name"]
    if named is None and isinstance(own, list):
        if not trusted:
            raise NotRunnable(
                f"its pipeline {own[-1]} is Python code of the checkpoint",
                cure="read that code, then: -M trust_remote_code=true",
            )
        return None
    diffusers = import_diffusers()
    name = str(named or own)
    try:
        found = getattr(diffusers, name)
    except AttributeError:
        known = [entry for entry in dir(diffusers) if entry.endswith("Pipeline")]
        if named is not None:
            raise UsageError(f"diffusers has no class '{name}'.{nearest(name, known)}") from None
        raise NotRunnable(
            f"diffusers {diffusers.__version__} has no {name}, which {INDEX} names",
            cure="pip install -U diffusers, or name another class: -M pipeline=...",
        ) from None
    except (ImportError, RuntimeError) as exc:
        raise _broken(exc) from exc
    missing = getattr(found, "_backends", None)  # diffusers' stand-in for what it cannot import
    if missing and not hasattr(found, "from_config"):
        raise MissingExtra(EXTRA)
    if not isinstance(found, type) or not issubclass(found, diffusers.DiffusionPipeline):
        raise UsageError(f"{name} of diffusers is no pipeline")
    return found


def import_diffusers() -> Any:
    """The library; MissingExtra when it is not installed, NotRunnable when it does not import."""
    try:
        import diffusers
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as exc:
        raise MissingExtra(EXTRA) from exc
    try:
        _ = diffusers.DiffusionPipeline  # the first look imports the half of it
    except (ImportError, RuntimeError) as exc:
        raise _broken(exc) from exc
    return diffusers


def _broken(exc: BaseException) -> NotRunnable:
    first = exc
    while (cause := first.__cause__ or first.__context__) is not None:
        first = cause
    return NotRunnable(
        f"diffusers is installed and cannot be imported: {first}",
        cure="torch, torchvision, transformers and diffusers must fit each other: "
        f"pip install -U 'vgen-eval[{EXTRA}]'",
    )
