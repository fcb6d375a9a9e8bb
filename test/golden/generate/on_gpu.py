"""Writes models/NAME/on-gpu.json: what the reference says when what meets a matrix is rounded as GPUs round it.

Matrix units take both operands in few bits: activations become e4m3 codes under a float32 scale for each row and 128
columns beside weights in FP8, float16 under such a scale beside codes of any other kind (integers, E2M1, blocks of GGUF), float16
beside weights in float16, and bfloat16 beside weights in bfloat16, as which matrices of GGUF in float32 are held; queries times log2(e), keys, values and the weights of attention become
bfloat16. All else stays in float32. "hopper" has the same again with the sums of FP8 cut as Hopper cuts them (hopper.py),
and greedy tokens as long as they are the same ones.
Usage: python generate/on_gpu.py [NAME ...]   (after models.py, gguf_models.py and encoders.py, in the same environment)
Of encoders, encoders/NAME/on-gpu.json is as embeddings.json.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

import encoders
import gguf_fixtures
from fixture import Fixture
from fixtures import FIXTURES
from held import Held, halved, place_of
from hopper import Fp8Matrix
from kv_fp8 import rounded
from reference import followed, greedy, teacher_forced

MODELS = Path(__file__).parent.parent / "models"
WITH_ODD_HEADS = ("gemma4-bf16", "eurobert-biases", "modernbert-bare")  # of 24 features
COLUMNS = 128
LOG2E = 1.44269504


def coded(x: Tensor) -> Tensor:
    """x (..., K) in e4m3, a scale for each row and 128 columns, the last perhaps fewer."""
    return torch.cat([rounded(torch.where(b == 0, 1e-30, b)) for b in x.split(COLUMNS, -1)], -1)


def scaled(x: Tensor) -> Tensor:
    """x (..., K) in float16 under a power of two for each row and 128 columns: the largest is 2^14 to 2^15."""
    blocks = []
    for block in x.split(COLUMNS, -1):
        fraction, exponent = block.abs().amax(-1, keepdim=True).clamp(min=1e-30).frexp()
        step = torch.ldexp(torch.ones_like(fraction), exponent - 15)
        blocks.append((block / step).half().float() * step)
    return torch.cat(blocks, -1)


def attend(
    module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scaling: float,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **_options,
):
    """Weights relative to the largest are rounded too, what they are divided by is not."""
    query, key, value = halved(query * (scaling * LOG2E)), halved(key), halved(value)
    key, value = (x.repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    scores = query @ key.mT
    if softcap is not None:
        scores = (scores / (softcap * LOG2E)).tanh() * (softcap * LOG2E)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    elif getattr(module, "is_causal", True):
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).tril() == 0, -torch.inf)
    top = scores.amax(-1, keepdim=True)
    weights = (scores - top).exp2()
    total = weights.sum(-1, keepdim=True)
    if s_aux is not None:
        total = total + (s_aux.view(-1, 1, 1) * LOG2E - top).exp2()
    mixed = halved(weights) @ value / total
    return mixed.transpose(1, 2).contiguous(), None


def form_of(met: set[torch.dtype]):
    """How activations are rounded that meet matrices of these types."""
    if torch.float8_e4m3fn in met:
        return coded
    if met & {torch.int8, torch.uint8, torch.int32}:
        return scaled
    if torch.float16 in met:
        return lambda x: x.half().float()
    return halved if not met or torch.bfloat16 in met else None


def rounding(held: Held) -> Callable[[int, Tensor, Tensor], Tensor]:
    """Its products of activations rounded as GPUs round them, as Held.multiplied() takes them."""
    held.model.set_attn_implementation("halved")
    forms = {place_of(p): form_of(held.types_beside(n)) for n, p in held.matrices().items()}
    exact = functional.linear

    def as_on_gpus(place: int, x: Tensor, weight: Tensor) -> Tensor:
        form = forms.get(place)
        return exact(form(x) if form else x, weight)

    return as_on_gpus


def generate_encoder(fixture: Fixture, folder: Path) -> None:
    golden = json.loads((folder / "embeddings.json").read_text())
    held = Held.of(fixture)
    with held.multiplied(rounding(held)):
        said = [encoders.embedded(held.model, each["prompt"]) for each in golden]
    (folder / "on-gpu.json").write_text(json.dumps(said, separators=(",", ":")) + "\n")


def generate(fixture: Fixture, folder: Path, adapted: Callable[[nn.Module], nn.Module] = lambda model: model) -> None:
    """`adapted`: the model with what multiplies activations that are not rounded."""
    golden = json.loads((folder / "golden.json").read_text())
    ids, prompts = golden["teacherForced"]["ids"], [run["prompt"] for run in golden["greedy"]]
    held = Held.of(fixture)
    as_on_gpus = rounding(held)
    # Experts run on other instructions, which round.
    in_fp8 = {place_of(p): Fp8Matrix.of(n, held.tensors) for n, p in held.matrices().items()}
    model = adapted(held.model)

    def as_on_hopper(place: int, x: Tensor, weight: Tensor) -> Tensor:
        return in_fp8[place].times(x) if in_fp8.get(place) else as_on_gpus(place, x, weight)

    with held.multiplied(as_on_gpus):
        said = {"greedy": [greedy(model, prompt) for prompt in prompts], "teacherForced": teacher_forced(model, ids)}
    if any(in_fp8.values()):
        with held.multiplied(as_on_hopper):
            said["hopper"] = {
                "greedy": [followed(model, run["prompt"], run["tokens"]) for run in said["greedy"]],
                "teacherForced": teacher_forced(model, ids),
            }
    (folder / "on-gpu.json").write_text(json.dumps(said, separators=(",", ":")) + "\n")


AttentionInterface.register("halved", attend)
AttentionMaskInterface.register("halved", sdpa_mask)

if __name__ == "__main__":
    torch.set_num_threads(1)
    for fixture in [*FIXTURES, *(fixture for fixture, *_ in gguf_fixtures.FIXTURES.values())]:
        if fixture.name in WITH_ODD_HEADS:
            continue
        if len(sys.argv) == 1 or fixture.name in sys.argv[1:]:
            generate(fixture, MODELS / fixture.name)
    for fixture in encoders.FIXTURES:
        if fixture.name not in WITH_ODD_HEADS and (len(sys.argv) == 1 or fixture.name in sys.argv[1:]):
            generate_encoder(fixture, encoders.ENCODERS / fixture.name)
