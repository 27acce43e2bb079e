"""A small plugin that keeps to the contract; the zoo is made of it, one fault at a time."""

from __future__ import annotations

from vgen_eval.hookspecs import hookimpl


@hookimpl
def vgen_adapters():
    return {"rules": "toyplug.parts:Rules"}


@hookimpl
def vgen_datasets():
    return {"discs": "toyplug.parts:Discs"}


@hookimpl
def vgen_decoders():
    return {"bright": "toyplug.parts:Bright", "nothing": "toyplug.parts:Nothing"}


@hookimpl
def vgen_encoders():
    return {"bright": "toyplug.parts:White"}


@hookimpl
def vgen_metrics():
    return {"overlap": "toyplug.parts:Overlap"}


@hookimpl
def vgen_views():
    return {"disc": "toyplug.parts:Shown"}
