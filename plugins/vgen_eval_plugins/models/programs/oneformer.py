"""Universal segmentation of transformers (OneFormer): a class for every pixel, as a label map.

`options.config`: `classes`, a list whose n-th entry lists the model's classes that the task calls
n (`rest`: all that no other entry lists; what none lists is -1, left open); or `numbers: own`,
the model's numbers as they are, for a protocol whose decoder names them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from speaking import array, device_of, picture_of, place_of, read_config, speak  # type: ignore[import-not-found]

DEFAULTS = {"classes": None, "numbers": None, "task": "semantic"}
OPEN = -1


def translation(
    classes: Sequence[Any] | None, numbers: str | None, names: Mapping[int, str]
) -> Any:
    """int32 (K,): the task's number of each class of the model; ValueError for unknown names."""
    import numpy as np

    if numbers == "own" and classes is None:
        return np.arange(len(names), dtype=np.int32)
    if numbers is not None or classes is None:
        raise ValueError(
            "options.config says which of the model's classes the task's numbers are: "
            "classes: [[person], [cat, dog], rest], or numbers: own"
        )
    table = np.full(len(names), OPEN, np.int32)
    by_name = {name: number for number, name in names.items()}
    for number, listed in enumerate(classes):
        for name in () if listed == "rest" else listed:
            if name not in by_name:
                raise ValueError(f"the model has no class '{name}'; it has {', '.join(by_name)}")
            table[by_name[name]] = number
    if "rest" in classes:
        table[table == OPEN] = classes.index("rest")
    return table


def load(hello: Mapping[str, Any]) -> Any:
    """The model of the card's checkpoint, as a function of a request."""
    config = read_config(hello, DEFAULTS)
    place, revision = place_of(hello)

    import numpy as np
    import torch
    from transformers import AutoProcessor, OneFormerForUniversalSegmentation

    device = device_of(hello)
    processor = AutoProcessor.from_pretrained(place, revision=revision)
    model = OneFormerForUniversalSegmentation.from_pretrained(place, revision=revision)
    model = model.to(device).eval()
    table = translation(config["classes"], config["numbers"], model.config.id2label)

    def answer(request: Mapping[str, Any]) -> dict[str, str]:
        picture = picture_of(request)
        inputs = processor(images=picture, task_inputs=[config["task"]], return_tensors="pt")
        with torch.inference_mode():
            outputs = model(**inputs.to(device))
        size = [(picture.height, picture.width)]
        [found] = processor.post_process_semantic_segmentation(outputs, target_sizes=size)
        return {"label_map": array(table[found.cpu().numpy().astype(np.int64)])}

    return answer


if __name__ == "__main__":
    speak(load, forms=("label_map",), packages=("torch", "transformers"))
