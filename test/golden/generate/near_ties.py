"""Says of a fixture's seeds how far the reference moves: rounding as GPUs round, when the last bits of its sums do, and the
maximum beside which weights of attention are rounded; rounding as CPUs round, when the last bits of sums do; in float32, when
keys and values are kept in bfloat16.

Where two experts are close, such bits choose between them, and any two orders of a sum may differ. Of a model that needs
another seed, take one that moves by less than half of the bars (test/gpu/goldens.ts; 0.08). No engine has a say in it.
Usage: python generate/near_ties.py NAME SEED ...   (in the environment of make-venv.sh; some seconds for each)
"""

import sys
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

import gguf_fixtures
from fixture import Fixture
from fixtures import FIXTURES
from held import Held, halved, place_of
from on_cpu import attend_in, forms_of
from on_gpu import LOG2E, attend, form_of
from reference import FORCED_LENGTH, PROMPT_LENGTHS, logits, random_ids

# About what two orders of a sum of 100 products differ by, of the root mean square of a row.
LAST_BITS = 5e-7
TRIALS = 8

# Of each matrix, what rounds the activations that meet it.
Forms = dict[int, Callable[[Tensor], Tensor] | None]


def capped(scores: Tensor, softcap: float | None) -> Tensor:
    return scores if softcap is None else (scores / softcap).tanh() * softcap


def attend_apart(
    module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scaling: float, softcap: float | None = None, s_aux: Tensor | None = None, **_
):
    """As on_gpu.attend(), with weights rounded beside a maximum other than that of all positions."""
    query, key, value = halved(query * (scaling * LOG2E)), halved(key), halved(value)
    key, value = (x.repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    seen = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril() if mask is None else mask
    scores = capped(query @ key.mT, softcap and softcap * LOG2E).masked_fill(~seen, -torch.inf)
    top = scores.amax(-1, keepdim=True) - torch.rand((*scores.shape[:-1], 1))
    weights = (scores - top).exp2()
    total = weights.sum(-1, keepdim=True)
    if s_aux is not None:
        total = total + (s_aux.view(-1, 1, 1) * LOG2E - top).exp2()
    return (halved(weights) @ value / total).transpose(1, 2).contiguous(), None


def attend_in_cache(
    module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scaling: float, softcap: float | None = None, s_aux: Tensor | None = None, **_
):
    key, value = (halved(x).repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    seen = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril() if mask is None else mask
    scores = capped(query @ key.mT * scaling, softcap).masked_fill(~seen, -torch.inf)
    if s_aux is not None:
        scores = torch.cat([scores, s_aux.view(1, -1, 1, 1).expand(*scores.shape[:-1], 1)], -1)
    weights = scores.softmax(-1)[..., : key.shape[-2]]
    return (weights @ value).transpose(1, 2).contiguous(), None


def of_next(rows: Tensor, ids: list[int]) -> Tensor:
    return rows[:-1].log_softmax(-1).gather(1, torch.tensor(ids[1:])[:, None])


def logprobs(held: Held, ids: list[int], forms: Forms, stirred: float, draw: torch.Generator) -> Tensor:
    exact = functional.linear

    def times(place: int, x: Tensor, weight: Tensor) -> Tensor:
        form = forms[place]
        y = exact(form(x) if form else x, weight)
        return y + stirred * torch.randn(y.shape, generator=draw) * y.pow(2).mean(-1, keepdim=True).sqrt()

    with held.multiplied(times):
        return of_next(logits(held.model, ids), ids)


def moved(held: Held, ids: list[int], forms: Forms, attention: tuple[str, str], draw: torch.Generator) -> Tensor:
    """(TRIALS, positions). attention: its implementations, at rest and stirred."""
    held.model.set_attn_implementation(attention[0])
    still = logprobs(held, ids, forms, 0, draw)
    held.model.set_attn_implementation(attention[1])
    return torch.stack([(logprobs(held, ids, forms, LAST_BITS, draw) - still).abs() for _ in range(TRIALS)])


def moved_by_cache(held: Held, ids: list[int]) -> Tensor:
    held.model.set_attn_implementation("eager")
    still = of_next(logits(held.model, ids), ids)
    held.model.set_attn_implementation("in_cache")
    return (of_next(logits(held.model, ids), ids) - still).abs()


def measure(fixture: Fixture) -> str:
    draw = torch.Generator().manual_seed(fixture.seed + 1000)
    texts = [random_ids(length, draw) for length in (*PROMPT_LENGTHS, FORCED_LENGTH)]
    held = Held.of(fixture)
    on_gpus = {place_of(p): form_of(held.types_beside(n)) for n, p in held.matrices().items()}
    off = torch.cat([moved(held, ids, on_gpus, ("halved", "apart"), draw).flatten() for ids in texts[1:]])
    in_pairs = ("halved_in_double", "halved_in_float")
    off_cpu = torch.cat([moved(held, ids, forms_of(held), in_pairs, draw).flatten() for ids in texts[1:]])
    cached = max(moved_by_cache(held, ids).max().item() for ids in texts[1:])
    return (
        f"on GPUs up to {off.max():.4f}, {off.mean():.5f} on average; on CPUs up to {off_cpu.max():.4f}; "
        f"in a bfloat16 cache up to {cached:.4f}"
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, forward in (
        ("halved", attend),
        ("apart", attend_apart),
        ("in_cache", attend_in_cache),
        ("halved_in_double", attend_in(torch.float64)),
        ("halved_in_float", attend_in(torch.float32)),
    ):
        AttentionInterface.register(name, forward)
        AttentionMaskInterface.register(name, sdpa_mask)
    fixtures = [*FIXTURES, *(fixture for fixture, _, _ in gguf_fixtures.FIXTURES.values())]
    named = next(fixture for fixture in fixtures if fixture.name == sys.argv[1])
    for seed in map(int, sys.argv[2:]):
        print(f"seed {seed}: {measure(replace(named, seed=seed))}", flush=True)
