"""Writes models/NAME/on-cpu.json: what the reference says when it rounds as a CPU with dot products of BF16 does.

Activations that meet a matrix become bfloat16, unless it is held in float16, whose numbers are not exact there; keys and
values too, which the engine keeps so, and what multiplies these: scaled queries, and the weights of attention before they are
divided by their sum. All else stays in float32. Which way a value is rounded depends
on the last bits of the sums before it, and moves all that follows: sums of products are made in double, and
teacherForced.inFloat32 has the log-probabilities that the same reference gives with its sums in float32.
Usage: python generate/on_cpu.py [NAME ...]   (after models.py and gguf_models.py, in the same environment)
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

import gguf_fixtures
from fixture import Fixture
from fixtures import FIXTURES
from held import Held, halved, place_of
from reference import greedy, teacher_forced

MODELS = Path(__file__).parent.parent / "models"
NOT_EXACT = {torch.float16, torch.float32}  # in bfloat16


def attend_in(sums: torch.dtype):
    """Attention whose sums are made in that type. Keys come here as the cache would hold them: normalized and rotated. All
    positions lie in one split of the engine's, but for the last of 257, whose weights are rounded beside another maximum there."""

    def attend(module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scaling: float, softcap: float | None = None, s_aux: Tensor | None = None, **_):
        seen = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril() if mask is None else mask
        key, value = (halved(x).repeat_interleave(query.shape[1] // x.shape[1], 1).to(sums) for x in (key, value))
        scores = (halved(query * scaling).to(sums) @ key.mT).float()
        if softcap is not None:
            scores = softcap * torch.tanh(scores / softcap)
        scores = scores.masked_fill(~seen, -torch.inf)
        top = scores.amax(-1, keepdim=True)
        weights = (scores - top).exp()
        total = weights.sum(-1, keepdim=True)
        if s_aux is not None:
            total = total + (s_aux.view(1, -1, 1, 1) - top).exp()
        values = (halved(weights).to(sums) @ value).float()
        return (values / total).transpose(1, 2).contiguous(), None

    return attend


def forms_of(held: Held) -> dict[int, Callable[[Tensor], Tensor]]:
    """How activations are rounded that meet each matrix."""
    return {
        place_of(p): (lambda x: x) if held.types_beside(n) <= NOT_EXACT else halved for n, p in held.matrices().items()
    }


def generate(fixture: Fixture) -> None:
    folder = MODELS / fixture.name
    golden = json.loads((folder / "golden.json").read_text())
    held = Held.of(fixture)
    forms = forms_of(held)
    exact = functional.linear

    def in_double(place: int, x: Tensor, weight: Tensor) -> Tensor:
        return exact(forms[place](x).double(), weight.double()).float()

    def in_float(place: int, x: Tensor, weight: Tensor) -> Tensor:
        return exact(forms[place](x), weight)

    ids = golden["teacherForced"]["ids"]
    held.model.set_attn_implementation("halved_in_double")
    with held.multiplied(in_double):
        greedily = [greedy(held.model, run["prompt"]) for run in golden["greedy"]]
        forced = teacher_forced(held.model, ids)
    held.model.set_attn_implementation("halved_in_float")
    with held.multiplied(in_float):
        in_floats = teacher_forced(held.model, ids)["logprobs"]
    said = {"greedy": greedily, "teacherForced": {**forced, "inFloat32": in_floats}}
    (folder / "on-cpu.json").write_text(json.dumps(said, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, sums in (("halved_in_double", torch.float64), ("halved_in_float", torch.float32)):
        AttentionInterface.register(name, attend_in(sums))
        AttentionMaskInterface.register(name, sdpa_mask)
    for fixture in [*FIXTURES, *(fixture for fixture, _, _ in gguf_fixtures.FIXTURES.values())]:
        if len(sys.argv) == 1 or fixture.name in sys.argv[1:]:
            generate(fixture)
