"""Writes models/NAME/on-gpu.json: what the reference says when what meets a matrix is rounded as GPUs round it.

Matrix units take both operands in few bits: activations become e4m3 codes under a float32 scale for each row and 128
columns beside weights in FP8, and bfloat16 beside weights in bfloat16; queries times log2(e), keys, values and the weights
of attention become bfloat16. All else stays in float32. Usage: python generate/on_gpu.py   (after models.py, in the same
environment)
"""

import json
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from checkpoint import make_tensors, reference_values
from fixtures import FIXTURES, Fixture
from kv_fp8 import rounded
from reference import build, greedy, load, teacher_forced

MODELS = Path(__file__).parent.parent / "models"
COLUMNS = 128
LOG2E = 1.44269504


def coded(x: Tensor) -> Tensor:
    """x (..., K) in e4m3, a scale for each row and 128 columns, the last perhaps fewer."""
    return torch.cat([rounded(torch.where(b == 0, 1e-30, b)) for b in x.split(COLUMNS, -1)], -1)


def halved(x: Tensor) -> Tensor:
    return x.bfloat16().float()


def attend(module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scaling: float, **_options):
    """Weights relative to the largest are rounded too, what they are divided by is not."""
    query, key, value = halved(query * (scaling * LOG2E)), halved(key), halved(value)
    key, value = (x.repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    scores = query @ key.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    else:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).tril() == 0, -torch.inf)
    weights = (scores - scores.amax(-1, keepdim=True)).exp2()
    mixed = halved(weights) @ value / weights.sum(-1, keepdim=True)
    return mixed.transpose(1, 2).contiguous(), None


def form_of(name: str, tensors: dict[str, Tensor]):
    """How activations are rounded that meet the parameter: experts are stacked in the reference, and stored apart."""
    stack = name.partition(".experts.")[0] + ".experts." if ".experts." in name else name
    dtypes = {t.dtype for n, t in tensors.items() if n.startswith(stack) and "scale" not in n}
    if torch.float8_e4m3fn in dtypes:
        return coded
    return halved if not dtypes or torch.bfloat16 in dtypes else None


def generate(fixture: Fixture) -> None:
    folder = MODELS / fixture.name
    golden = json.loads((folder / "golden.json").read_text())
    model = build(fixture.config)
    shapes = {n: t.shape for n, t in model.state_dict().items() if fixture.vision or "visual" not in n}
    tensors = make_tensors(fixture, shapes)
    load(model, reference_values(fixture, tensors))
    model.set_attn_implementation("halved")
    model.set_experts_implementation("eager")
    forms = {p.untyped_storage().data_ptr(): form_of(n, tensors) for n, p in model.named_parameters() if p.ndim > 1}
    met = set()

    def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        place = weight.untyped_storage().data_ptr()
        met.add(place)
        form = forms[place]
        return exact_linear(form(x) if form else x, weight, bias)

    exact_linear, functional.linear = functional.linear, linear
    try:
        said = {
            "greedy": [greedy(model, run["prompt"]) for run in golden["greedy"]],
            "teacherForced": teacher_forced(model, golden["teacherForced"]["ids"]),
        }
    finally:
        functional.linear = exact_linear
    matrices = {n: p for n, p in model.named_parameters() if "proj" in n and "visual" not in n and p.ndim > 1}
    unmet = [n for n, p in matrices.items() if p.untyped_storage().data_ptr() not in met]
    if unmet:
        raise ValueError(f"{fixture.name}: these were multiplied elsewhere: {unmet}")
    (folder / "on-gpu.json").write_text(json.dumps(said, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    AttentionInterface.register("halved", attend)
    AttentionMaskInterface.register("halved", sdpa_mask)
    for fixture in FIXTURES:
        generate(fixture)
