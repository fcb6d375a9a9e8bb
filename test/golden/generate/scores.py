"""Writes models/NAME/scores.json: the probability of the second of two tokens behind a prompt, beside the first, as rerankers
that are causal models score (Qwen3-Reranker's model card: log_softmax over the logits of "no" and "yes").

Usage: python generate/scores.py [NAME ...]   (after models.py, in the same environment)
"""

import json
import sys
from pathlib import Path

import torch

from checkpoint import make_tensors, reference_values
from fixtures import FIXTURES
from reference import DIGITS, build, load, logits

MODELS = Path(__file__).parent.parent / "models"
# One with a tied head, and one whose logits are capped.
NAMES = ("qwen3-bf16", "gemma2-bf16")
TOKENS = (7, 300)


def generate(name: str) -> None:
    fixture = next(each for each in FIXTURES if each.name == name)
    prompts = [run["prompt"] for run in json.loads((MODELS / name / "golden.json").read_text())["greedy"]]
    model = build(fixture.config)
    load(model, reference_values(fixture, make_tensors(fixture, {n: t.shape for n, t in model.state_dict().items()})))
    scored = []
    for prompt in prompts:
        pair = logits(model, prompt)[-1][list(TOKENS)]
        scored.append({"prompt": prompt, "score": round(pair.log_softmax(0)[1].exp().item(), DIGITS)})
    (MODELS / name / "scores.json").write_text(json.dumps({"tokens": TOKENS, "scored": scored}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in NAMES:
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            generate(name)
