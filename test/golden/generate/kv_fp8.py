"""Writes models/NAME/kv-fp8.json: what the reference says when its keys and values are rounded to eight bits.

The engine does the same with engine.kvCacheDtype fp8: per token and head, e4m3 codes under a float32 scale that brings
the largest magnitude to 448. Rounding is numpy's nearest of all codes' values, and torch's cast is not used.
Usage: python generate/kv_fp8.py [NAME ...]   (after models.py, in the same environment)
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from checkpoint import make_tensors, reference_values
from fixture import Fixture
from fixtures import FIXTURES
from formats import E4M3_MAX, e4m3
from reference import build, load, teacher_forced
from weights import of_tower

MODELS = Path(__file__).parent.parent / "models"
# Of every kind of attention whose scores sdpa_attention_forward takes as they are: no caps, no sinks.
NAMES = (
    "gemma3_text-bf16",
    "gemma4-bf16",
    "gemma4_text-bf16",
    "llama-bf16",
    "qwen3-bf16",
    "qwen3-window-bf16",
    "qwen3_5-bf16",
    "qwen3_5_moe-bf16",
    "qwen3_5_text-fp8-ranks",
    "qwen3_moe-bf16",
    "qwen3_next-bf16",
)
# Of the 127 codes from 0 to 448, in order.
VALUES = e4m3(torch.arange(127, dtype=torch.uint8).view(torch.float8_e4m3fn))


def rounded(rows: Tensor) -> Tensor:
    """rows (..., head_dim), each under a scale of its own."""
    values = rows.numpy()
    scale = np.abs(values).max(-1, keepdims=True) / np.float32(E4M3_MAX)
    exact = np.abs(values / scale)
    above = np.searchsorted(VALUES, exact).clip(1, 126)
    low, high = VALUES[above - 1], VALUES[above]
    # Of two as near the even code, which is the one below where `above` is odd.
    takes_low = (exact - low < high - exact) | ((exact - low == high - exact) & (above % 2 == 1))
    return torch.from_numpy(np.where(takes_low, low, high) * np.sign(values) * scale)


def attend(module, query: Tensor, key: Tensor, value: Tensor, *arguments, **options):
    """Keys come here as the cache would hold them: normalized and rotated."""
    return sdpa_attention_forward(module, query, rounded(key), rounded(value), *arguments, **options)


def generate(fixture: Fixture) -> None:
    folder = MODELS / fixture.name
    ids = json.loads((folder / "golden.json").read_text())["teacherForced"]["ids"]
    model = build(fixture.config)
    shapes = {n: t.shape for n, t in model.state_dict().items() if fixture.vision or not of_tower(n)}
    load(model, reference_values(fixture, make_tensors(fixture, shapes)))
    model.set_attn_implementation("rounded_kv")
    logprobs = teacher_forced(model, ids)["logprobs"]
    (folder / "kv-fp8.json").write_text(json.dumps({"logprobs": logprobs}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    AttentionInterface.register("rounded_kv", attend)
    AttentionMaskInterface.register("rounded_kv", sdpa_mask)
    for fixture in FIXTURES:
        if fixture.name in NAMES and (len(sys.argv) == 1 or fixture.name in sys.argv[1:]):
            generate(fixture)
