"""Writes models/NAME/at-load.json: what the reference says once the checkpoint's projections are quantized.

The engine does the same while it loads (engine.quantization). FP8 comes from the demo model's block quantizer, INT8 is one
symmetric scale per output. Usage: python generate/at_load.py   (after models.py, in the same environment)
"""

import json
from pathlib import Path

import torch
from torch import Tensor

from checkpoint import dequantize, make_tensors, quantize, reference_values
from fixture import Fixture
from fixtures import FIXTURES
from reference import build, load, teacher_forced
from weights import is_fp8, of_tower

MODELS = Path(__file__).parent.parent / "models"
NAMES = ("llama-f16", "qwen3-bf16", "qwen3_5-bf16")


def rounded_to_fp8(weight: Tensor) -> Tensor:
    return dequantize(*quantize(weight, torch.float32))


def rounded_to_int8(weight: Tensor) -> Tensor:
    scale = weight.abs().amax(1, keepdim=True) / 127
    return (weight / scale).round().clamp(-127, 127) * scale


def generate(fixture: Fixture) -> None:
    folder = MODELS / fixture.name
    ids = json.loads((folder / "golden.json").read_text())["teacherForced"]["ids"]
    model = build(fixture.config)
    shapes = {n: t.shape for n, t in model.state_dict().items() if fixture.vision or not of_tower(n)}
    values = reference_values(fixture, make_tensors(fixture, shapes))
    measured = {}
    for form, rounded in (("fp8", rounded_to_fp8), ("int8", rounded_to_int8)):
        load(model, {n: rounded(w) if is_fp8(n, w.shape) else w for n, w in values.items()})
        measured[form] = teacher_forced(model, ids)["logprobs"]
    (folder / "at-load.json").write_text(json.dumps(measured, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for fixture in FIXTURES:
        if fixture.name in NAMES:
            generate(fixture)
