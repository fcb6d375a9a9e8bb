"""Writes models/NAME/on-gpu.json: what the reference says when what meets a matrix is rounded as GPUs round it.

Matrix units take both operands in few bits: activations become e4m3 codes under a float32 scale for each row and 128
columns beside weights in FP8, float16 beside weights in float16 and blocks of GGUF, and bfloat16 beside weights in bfloat16,
as which matrices of GGUF in float32 are held; queries times log2(e), keys, values and the weights of attention become
bfloat16. All else stays in float32. "hopper" has the same again with the sums of FP8 cut as Hopper cuts them (hopper.py),
and greedy tokens as long as they are the same ones.
Usage: python generate/on_gpu.py [NAME ...]   (after models.py and gguf_models.py, in the same environment)
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

import gguf_files
from checkpoint import make_tensors, reference_values
from experts import stacked
from fixtures import FIXTURES, Fixture
from hopper import Fp8Matrix
from kv_fp8 import rounded
from reference import build, followed, greedy, load, teacher_forced

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


def form_of(name: str, dtypes: dict[str, torch.dtype]):
    """How activations are rounded that meet the parameter: experts are stacked in the reference, and stored apart."""
    stack = name.partition(".experts.")[0] + ".experts." if ".experts." in name else name
    met = {dtype for n, dtype in dtypes.items() if n.startswith(stack) and "scale" not in n}
    if torch.float8_e4m3fn in met:
        return coded
    if torch.float16 in met:
        return lambda x: x.half().float()
    return halved if not met or torch.bfloat16 in met else None


def of_gguf(fixture: Fixture, tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, torch.dtype]]:
    """The reference's values, and as what a GPU holds each matrix."""
    with TemporaryDirectory() as folder:
        values = gguf_files.write(fixture.name, tensors, Path(folder))
    types = gguf_files.stored_types(fixture.name, tensors)
    matrices = {n for n, value in values.items() if value.ndim == 2}
    single = {n for n in matrices if types[n] == "F32"}
    dtypes = {n: torch.bfloat16 if n in single or types[n] == "BF16" else torch.float16 for n in matrices}
    return stacked({n: halved(value) if n in single else value for n, value in values.items()}), dtypes


def generate(fixture: Fixture) -> None:
    folder = MODELS / fixture.name
    golden = json.loads((folder / "golden.json").read_text())
    model = build(fixture.config)
    shapes = {n: t.shape for n, t in model.state_dict().items() if fixture.vision or "visual" not in n}
    tensors = make_tensors(fixture, shapes)
    if fixture.name in gguf_files.FIXTURES:
        values, dtypes = of_gguf(fixture, tensors)
    else:
        values, dtypes = reference_values(fixture, tensors), {n: t.dtype for n, t in tensors.items()}
    load(model, values)
    model.set_attn_implementation("halved")
    model.set_experts_implementation("eager")
    parameters = {n: p for n, p in model.named_parameters() if p.ndim > 1}
    forms = {p.untyped_storage().data_ptr(): form_of(n, dtypes) for n, p in parameters.items()}
    # Experts run on other instructions, which round.
    in_fp8 = {p.untyped_storage().data_ptr(): Fp8Matrix.of(n, tensors) for n, p in parameters.items()}
    met = set()
    on_hopper = False

    def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        place = weight.untyped_storage().data_ptr()
        met.add(place)
        if on_hopper and in_fp8[place]:
            return in_fp8[place].times(x) + (0 if bias is None else bias)
        form = forms[place]
        return exact_linear(form(x) if form else x, weight, bias)

    exact_linear, functional.linear = functional.linear, linear
    try:
        ids = golden["teacherForced"]["ids"]
        said = {
            "greedy": [greedy(model, run["prompt"]) for run in golden["greedy"]],
            "teacherForced": teacher_forced(model, ids),
        }
        on_hopper = any(in_fp8.values())
        if on_hopper:
            said["hopper"] = {
                "greedy": [followed(model, run["prompt"], run["tokens"]) for run in said["greedy"]],
                "teacherForced": teacher_forced(model, ids),
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
    for fixture in [*FIXTURES, *(fixture for fixture, _, _ in gguf_files.FIXTURES.values())]:
        if len(sys.argv) == 1 or fixture.name in sys.argv[1:]:
            generate(fixture)
