"""Writes models/NAME/fp8-inputs.json: what the reference says when activations are quantized too, by the scales that lie in the file.

Usage: python generate/fp8_inputs.py   (after models.py, in the same environment)
"""

import json
from pathlib import Path

import torch

import fp8_groups
from checkpoint import make_tensors, reference_values
from fixtures import FIXTURES
from reference import build, load, teacher_forced

MODELS = Path(__file__).parent.parent / "models"

if __name__ == "__main__":
    torch.set_num_threads(1)
    for fixture in FIXTURES:
        if fixture.form != fp8_groups.FORM:
            continue
        model = build(fixture.config)
        tensors = make_tensors(fixture, {n: t.shape for n, t in model.state_dict().items()})
        load(model, reference_values(fixture, tensors))
        fp8_groups.quantize_inputs(model, {n.removesuffix(".input_scale") for n in tensors if n.endswith(".input_scale")})
        folder = MODELS / fixture.name
        ids = json.loads((folder / "golden.json").read_text())["teacherForced"]["ids"]
        said = {"logprobs": teacher_forced(model, ids)["logprobs"]}
        (folder / "fp8-inputs.json").write_text(json.dumps(said, separators=(",", ":")) + "\n")
