"""Writes models/NAME/long.json: the reference's log-probabilities at the end of a text of 8192 tokens.

One pass over the whole text: the engine's chunks, states and cached keys must carry as far. The text is a formula, which
the test repeats (ids[i] below). Usage: python generate/long.py   (after models.py, in the same environment)
"""

import json
from pathlib import Path

import torch

from checkpoint import make_tensors, reference_values
from fixture import Fixture
from fixtures import FIXTURES
from reference import DIGITS, build, load, measure
from weights import of_tower

MODELS = Path(__file__).parent.parent / "models"
# llama3 scaling, plain rotary embedding, and hybrids, half of whose recurrent heads hardly forget.
NAMES = ("llama-bf16", "qwen3-bf16", "qwen3_5-bf16", "qwen3_next-bf16")
LENGTH, MEASURED = 8193, 256


def text() -> list[int]:
    return [2 + (i * i * 7 + i * 31 + i // 97) % 311 for i in range(LENGTH)]


@torch.no_grad()
def generate(fixture: Fixture) -> None:
    model = build(fixture.config | {"max_position_embeddings": LENGTH} if "text_config" not in fixture.config else fixture.config)
    model.set_attn_implementation("sdpa")
    shapes = {n: t.shape for n, t in model.state_dict().items() if fixture.vision or not of_tower(n)}
    load(model, reference_values(fixture, make_tensors(fixture, shapes)))
    ids = text()
    rows = model(input_ids=torch.tensor([ids]), use_cache=False, logits_to_keep=MEASURED + 1).logits[0].float()
    measured = [measure(rows[i], ids[LENGTH - MEASURED + i]) for i in range(MEASURED)]
    logprobs = [round(m[2], DIGITS) for m in measured]
    (MODELS / fixture.name / "long.json").write_text(json.dumps({"length": LENGTH, "logprobs": logprobs}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for fixture in FIXTURES:
        if fixture.name in NAMES:
            generate(fixture)
