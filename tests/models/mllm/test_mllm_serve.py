"""The same model behind `transformers serve`, asked through openai_compatible: the same answers.

Not run by default. Name a Python that has `transformers[serving]` (fastapi, uvicorn):

    VGEN_SERVE_PYTHON=/path/to/bin/python pytest tests/models/mllm/test_mllm_serve.py
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import vgen_eval
import vgen_eval_plugins
from mllmkit import ask, make_request, noise
from vgen_eval.errors import CallError

PYTHON = os.environ.get("VGEN_SERVE_PYTHON")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PYTHON is None, reason="VGEN_SERVE_PYTHON names no Python"),
]

# beside a CPU build of torch PyPI's torchvision has no decoder: Pillow takes its place
LAUNCH = """
import io, sys
from vgen_eval_plugins.standins.vision_ops import mend_torchvision
mend_torchvision()
import numpy, PIL.Image, torch, torchvision.extension, torchvision.io

def decode_image(data, mode=None, apply_exif_orientation=False):
    picture = PIL.Image.open(io.BytesIO(bytes(data.numpy()))).convert("RGB")
    return torch.from_numpy(numpy.array(picture)).permute(2, 0, 1)

if not torchvision.extension._has_ops():
    torchvision.io.decode_image = decode_image
torch.set_num_threads(1)
from transformers.cli.transformers import main
sys.argv = ["transformers", "serve", *sys.argv[1:]]
main()
"""


@pytest.fixture(scope="module")
def served(tiny_mllm: Callable[..., Path]) -> Iterator[tuple[str, str]]:
    """Address and name of a SmolVLM that is served on loopback."""
    model = str(tiny_mllm("smolvlm"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    places = [
        str(Path(module.__file__ or "").parents[1]) for module in (vgen_eval, vgen_eval_plugins)
    ]
    process = subprocess.Popen(
        [str(PYTHON), "-c", LAUNCH, model, "--host", "127.0.0.1", "--port", str(port),
         "--device", "cpu", "--dtype", "float32"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(places), "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}/v1", model
    finally:
        process.terminate()
        process.wait(30)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"no answer from {url}")


@pytest.fixture
def client(served: tuple[str, str]) -> Iterator[Any]:
    """openai_compatible on the server, loaded."""
    from vgen_eval_plugins.models.openai.adapter import OpenAICompatible

    url, model = served
    adapter = OpenAICompatible(OpenAICompatible.Options(model=model, base_url=url))
    adapter.load()
    yield adapter
    adapter.close()


@pytest.mark.parametrize("pictures", [0, 1, 2])
def test_a_served_model_answers_as_the_model_here(
    pictures: int, client: Any, tiny_adapter: Any
) -> None:
    images = [noise(number, 56, 84) for number in range(pictures)]
    here = make_request(prompt="How many?", images=images, max_new_tokens=12)
    there = make_request(prompt="How many?", images=images, max_tokens=12)
    (expected,) = ask(tiny_adapter("smolvlm"), here)
    (output,) = ask(client, there)
    assert output.answer.strip() == expected.answer
    assert output.usage is not None
    assert expected.usage is not None
    assert output.usage.input_tokens == expected.usage.input_tokens
    assert output.usage.output_tokens == expected.usage.output_tokens


def test_it_gives_no_log_probabilities(client: Any) -> None:
    with pytest.raises(CallError, match="gave no log-probabilities"):
        ask(client, make_request(form="choice", choices=("yes", "no")))
